//! Flow control of the device under a program: classes, pauses in and out, marks, the watchdog, and a sender that obeys
//! pauses over a cable.

mod aim;
mod cable;
mod colour;
mod marks;
mod order;
mod pauses;
mod shaping;
mod storms;
