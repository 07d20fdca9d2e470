//! The life of one flow in a network as a sequence diagram: packets and control packets from hop to hop, the queues that
//! packets wait in, flow-control words, and timer packets that recirculate.
//!
//! A [`Watcher`] observes every switch. [`Story::tell`] joins their observations; [`Story::text`] and [`Story::svg`]
//! draw them. The program's [`Narrator`] reads the frames; this module knows no program.
//!
//! | file | content |
//! |---|---|
//! | `watch` | events of the flow at one switch |
//! | `tell` | columns, hops, paused queues and recirculations |
//! | `text` | the diagram as text |
//! | `svg` | the diagram drawn to scale |

mod svg;
mod tell;
mod text;
mod watch;

pub use tell::{NoStory, Story};
pub use watch::Watcher;

use crate::network::Network;

pub use sluice_catalogue::story::{Message, Narrator, NoFlow, RoceFlow, RoceNarrator};
