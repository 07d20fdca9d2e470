//! `program_text` for libFuzzer; with a stable compiler, a program that runs the target on the files that it is given.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| sluice_fuzz::targets::program_text(data));

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    sluice_fuzz::targets::change_text(data, size, most, seed, libfuzzer_sys::fuzzer_mutate)
});

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    std::env::args_os()
        .skip(1)
        .try_for_each(|file| std::fs::read(file).map(|data| sluice_fuzz::targets::program_text(&data)))
}
