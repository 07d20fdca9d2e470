//! Runs independent jobs on threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs `job` for each number below `count` on at most `threads` threads, and returns the results by number. Each job also gets the
/// number of threads that it may use itself.
///
/// Jobs start in order, and after an error no further job starts.
///
/// # Errors
/// The error of the first job that fails, by number.
pub fn run_all<R: Send, E: Send>(
    threads: usize,
    count: usize,
    job: impl Fn(usize, usize) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let workers = threads.min(count).max(1);
    let own = (threads / workers).max(1);
    if workers == 1 {
        return (0..count).map(|number| job(number, own)).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::new(Vec::with_capacity(count));
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let result = job(number, own);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_threads_are_shared_out() {
        let squares = |n: usize, own: usize| Ok::<_, ()>((n * n, own));
        let expected = |own| (0..9).map(|n| (n * n, own)).collect::<Vec<_>>();
        for (threads, own) in [(0, 1), (1, 1), (4, 1), (9, 1), (19, 2)] {
            assert_eq!(run_all(threads, 9, squares), Ok(expected(own)), "{threads}");
        }
        assert_eq!(run_all(8, 2, squares), Ok(vec![(0, 4), (1, 4)]));
        assert_eq!(run_all(8, 0, squares), Ok(vec![]));
    }

    #[test]
    fn the_first_error_is_returned() {
        let job = |n: usize, _: usize| if n % 4 == 3 { Err(n) } else { Ok(n) };
        for threads in 1..8 {
            assert_eq!(run_all(threads, 100, job), Err(3), "{threads}");
        }
    }
}
