use sluice_benches::*;
use sluice_pipeline::engine::Engine;
use sluice_pipeline::switch::Mode;
fn main() {
    let mode = match std::env::args().nth(1).unwrap().as_str() {
        "f" => Mode::Functional,
        _ => Mode::Timed,
    };
    let n: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let w = Workload::new(20000, 1000);
    let mut total = 0.0;
    for _ in 0..n {
        let engine = Engine::new(&w.program, &w.placement, &w.control).unwrap();
        let mut s = switch(&w, engine, mode);
        let start = std::time::Instant::now();
        drive(&mut s, &w.frames);
        total += start.elapsed().as_nanos() as f64;
    }
    println!("{}", total / n as f64 / 20000.0);
}
