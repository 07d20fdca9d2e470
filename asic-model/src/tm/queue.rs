//! First-in-first-out lists of packets, whose nodes share one slab.

use crate::units::{Bytes, Cells};

use super::EnqueueStamp;
use super::buffer::Charge;

/// No node.
const NIL: u32 = u32::MAX;

/// A queued packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packet<H> {
    pub(super) handle: H,
    pub(super) bytes: Bytes,
    pub(super) cells: Cells,
    pub(super) stamp: EnqueueStamp,
    /// Charge to the shared buffer, if there is one.
    pub(super) charge: Option<Charge>,
}

#[derive(Debug, Clone)]
struct Node<H> {
    packet: Packet<H>,
    /// Next packet in the list, or the next free node.
    next: u32,
}

/// Nodes of all lists. The slab grows to the largest number of packets ever held and never shrinks.
#[derive(Debug, Clone)]
pub(super) struct Slab<H> {
    nodes: Vec<Node<H>>,
    free: u32,
}

impl<H: Copy> Slab<H> {
    pub(super) const fn new() -> Self {
        Self { nodes: Vec::new(), free: NIL }
    }

    /// Inserts a node for `packet` and returns its index. Every packet takes a cell and cells are counted in 32 bits,
    /// so the index never reaches [`NIL`].
    fn insert(&mut self, packet: Packet<H>) -> u32 {
        let index = self.free;
        match self.nodes.get_mut(index as usize) {
            Some(node) => {
                self.free = node.next;
                *node = Node { packet, next: NIL };
                index
            }
            None => {
                self.nodes.push(Node { packet, next: NIL });
                (self.nodes.len() - 1) as u32
            }
        }
    }

    fn get(&self, index: u32) -> Option<&Node<H>> {
        self.nodes.get(index as usize)
    }
}

/// First-in-first-out list. All methods must be called with the same slab.
#[derive(Debug, Clone)]
pub(super) struct Fifo {
    head: u32,
    tail: u32,
    cells: Cells,
    bytes: Bytes,
}

impl Fifo {
    pub(super) const fn new() -> Self {
        Self { head: NIL, tail: NIL, cells: Cells::ZERO, bytes: Bytes::ZERO }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.head == NIL
    }

    /// Returns the cells of all packets in the list.
    pub(super) const fn cells(&self) -> Cells {
        self.cells
    }

    /// Returns the bytes of all packets in the list.
    pub(super) const fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub(super) fn push<H: Copy>(&mut self, slab: &mut Slab<H>, packet: Packet<H>) {
        let index = slab.insert(packet);
        match slab.nodes.get_mut(self.tail as usize) {
            Some(last) => last.next = index,
            None => self.head = index,
        }
        self.tail = index;
        self.cells += packet.cells;
        self.bytes += packet.bytes;
    }

    pub(super) fn pop<H: Copy>(&mut self, slab: &mut Slab<H>) -> Option<Packet<H>> {
        let index = self.head;
        let node = slab.nodes.get_mut(index as usize)?;
        self.head = node.next;
        if self.head == NIL {
            self.tail = NIL;
        }
        node.next = slab.free;
        slab.free = index;
        self.cells = self.cells - node.packet.cells;
        self.bytes = self.bytes - node.packet.bytes;
        Some(node.packet)
    }

    #[inline]
    pub(super) fn head<'a, H: Copy>(&self, slab: &'a Slab<H>) -> Option<&'a Packet<H>> {
        slab.get(self.head).map(|node| &node.packet)
    }

    /// Returns the packets from head to tail.
    pub(super) fn iter<'a, H: Copy>(
        &self,
        slab: &'a Slab<H>,
    ) -> impl Iterator<Item = &'a Packet<H>> + use<'a, H> {
        let nodes = std::iter::successors(slab.get(self.head), |node| slab.get(node.next));
        nodes.map(|node| &node.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn packet(handle: u32) -> Packet<u32> {
        let stamp = EnqueueStamp { enq_qdepth: Cells::ZERO, enq_tstamp: Time::ORIGIN };
        Packet { handle, bytes: Bytes(handle.into()), cells: Cells(handle % 5 + 1), stamp, charge: None }
    }

    proptest! {
        #[test]
        fn lists_sharing_a_slab_behave_like_deques(
            steps in prop::collection::vec((0usize..4, any::<bool>()), 0..400),
        ) {
            let mut slab = Slab::new();
            let mut lists = [const { Fifo::new() }; 4];
            let mut model = [const { VecDeque::<u32>::new() }; 4];
            let mut most_held = 0;
            for (step, (list, push)) in (0u32..).zip(steps) {
                if push {
                    lists[list].push(&mut slab, packet(step));
                    model[list].push_back(step);
                } else {
                    let popped = lists[list].pop(&mut slab).map(|packet| packet.handle);
                    prop_assert_eq!(popped, model[list].pop_front());
                }
                for (list, model) in lists.iter().zip(&model) {
                    prop_assert!(list.iter(&slab).map(|packet| packet.handle).eq(model.iter().copied()));
                    prop_assert_eq!(list.head(&slab).map(|packet| packet.handle), model.front().copied());
                    prop_assert_eq!(list.is_empty(), model.is_empty());
                    prop_assert_eq!(list.cells(), model.iter().map(|&handle| packet(handle).cells).sum());
                }
                most_held = most_held.max(model.iter().map(VecDeque::len).sum());
                // Freed nodes are used before new ones are made.
                prop_assert_eq!(slab.nodes.len(), most_held);
            }
        }
    }
}
