use sluice_benches::*;
use sluice_pipeline::engine::Engine;
fn main() {
    let size: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let w = Workload::new(4000, 1000);
    let mut engine = Engine::new(&w.program, &w.placement, &w.control).unwrap();
    let mut total = 0.0;
    for _ in 0..std::env::args().nth(2).map_or(500, |a| a.parse().unwrap()) {
        let mut loaded = Loaded::new(&w.frames);
        let start = std::time::Instant::now();
        loaded.run(&mut engine, size);
        total += start.elapsed().as_nanos() as f64;
    }
    println!("{}", total / std::env::args().nth(2).map_or(500.0, |a| a.parse().unwrap()) / 4000.0);
}
