//! The files of `sluice reproduce -o`.

use super::{Done, ReproduceArgs, json, text};
use crate::fail::Failure;
use crate::files::{Folder, pretty};
use sluice_papers::{Published, Rival, contests, html, markdown};
use std::path::Path;

/// Writes a page and a table of each experiment, and the contests as `sluice run` takes them.
pub(super) fn write(
    all: &[Done],
    published: &Published,
    args: &ReproduceArgs,
    rivals: &[Rival],
    dir: &Path,
) -> Result<(), Failure> {
    let mut folder = Folder::of("reproduce");
    let value = pretty(&json::value(all, args.scale));
    folder.text(dir, "reproduce.json", json::SCHEMA, "every number, claim and verdict", &value)?;
    let page = text::page(all, published, args.scale);
    folder.text(dir, "papers.md", "text/markdown", "all experiments, by paper", &page)?;
    for Done { experiment, found, judgement, took } in all {
        let stem = experiment.id.replace('/', "-");
        let page = html(experiment, judgement, found, published, args.scale, took);
        folder.text(dir, &format!("{stem}.html"), "text/html", "an experiment as a page", &page)?;
        let page = markdown(experiment, judgement, args.scale, took);
        folder.text(dir, &format!("{stem}.md"), "text/markdown", "the same as tables", &page)?;
        for contest in contests(experiment, args.scale, rivals).map_err(Failure::input)? {
            let name = contest.name.replace('/', "-");
            let what = "a contest of an experiment, as `sluice run` takes it";
            folder.text(dir, &name, "application/toml", what, &contest.text)?;
        }
    }
    folder.finish(dir)
}
