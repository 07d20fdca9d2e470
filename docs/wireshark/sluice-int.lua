-- Wireshark dissector of INT v2.1 behind TCP and UDP, Telemetry Report v2.0 and HPCC's compact header.
--
-- wireshark -X lua_script:docs/wireshark/sluice-int.lua capture.pcapng
--
-- It runs behind all other dissectors and adds a tree of its own. Where telemetry is, the preferences of
-- "sluice_int" say; their defaults are those of the programs int and hpcc-int.

local int = Proto("sluice_int", "In-band Network Telemetry")
local report = Proto("sluice_report", "Telemetry Report v2.0")
local hpcc = Proto("sluice_hpcc", "HPCC telemetry")

int.prefs.dscp = Pref.uint("DSCP of packets with INT", 0x17, "64 for none")
int.prefs.int_port = Pref.uint("UDP port of packets with INT", 54321)
int.prefs.report_port = Pref.uint("UDP port of Telemetry Reports", 32766)
int.prefs.hpcc_port = Pref.uint("UDP port of packets with HPCC's header", 0, "0 for none; RoCEv2 is 4791")
int.prefs.hpcc_ns3 = Pref.bool("HPCC's header is laid out as in the simulator", false, "the parameter layout=ns3 of hpcc-int")

local KIND = { [1] = "INT-MD", [2] = "destination", [3] = "INT-MX" }
local NPT = { [0] = "marked by DSCP", [1] = "UDP port replaced", [2] = "UDP header inserted" }
local REP = { [0] = "inner only", [1] = "INT", [2] = "IOAM" }
local INNER = { [0] = "none", [1] = "TLV", [2] = "domain specific", [3] = "Ethernet", [4] = "IPv4", [5] = "IPv6" }

local f = {
  kind = ProtoField.uint8("sluice_int.type", "Type", base.DEC, KIND, 0xf0),
  npt = ProtoField.uint8("sluice_int.npt", "NPT", base.DEC, NPT, 0x0c),
  length = ProtoField.uint8("sluice_int.length", "Length (words)", base.DEC),
  original = ProtoField.uint16("sluice_int.original", "Original DSCP, port or protocol", base.HEX),
  version = ProtoField.uint8("sluice_int.version", "Version", base.DEC, nil, 0xf0),
  discard = ProtoField.bool("sluice_int.discard", "Discard (D)", 8, nil, 0x08),
  exceeded = ProtoField.bool("sluice_int.hops_exceeded", "Hop count exceeded (E)", 8, nil, 0x04),
  mtu = ProtoField.bool("sluice_int.mtu_exceeded", "MTU exceeded (M)", 8, nil, 0x02),
  hop_ml = ProtoField.uint8("sluice_int.hop_ml", "Hop ML (words)", base.DEC, nil, 0x1f),
  remaining = ProtoField.uint8("sluice_int.remaining", "Remaining hop count", base.DEC),
  bitmap = ProtoField.uint16("sluice_int.bitmap", "Instructions", base.HEX),
  domain = ProtoField.uint16("sluice_int.domain", "Domain specific ID", base.HEX),
  ds_instruction = ProtoField.uint16("sluice_int.ds_instruction", "DS instruction", base.HEX),
  ds_flags = ProtoField.uint16("sluice_int.ds_flags", "DS flags", base.HEX),
  hops = ProtoField.uint8("sluice_int.hops", "Hops in the stack", base.DEC),
  node = ProtoField.uint32("sluice_int.node", "Node ID", base.DEC),
  in_port = ProtoField.uint16("sluice_int.ingress_port", "Ingress interface", base.DEC),
  out_port = ProtoField.uint16("sluice_int.egress_port", "Egress interface", base.DEC),
  latency = ProtoField.uint32("sluice_int.latency", "Hop latency", base.DEC),
  queue = ProtoField.uint8("sluice_int.queue", "Queue", base.DEC),
  depth = ProtoField.uint24("sluice_int.depth", "Queue occupancy", base.DEC),
  in_time = ProtoField.uint64("sluice_int.ingress_time", "Ingress timestamp", base.DEC),
  out_time = ProtoField.uint64("sluice_int.egress_time", "Egress timestamp", base.DEC),
  in_l2 = ProtoField.uint32("sluice_int.ingress_l2", "Level-2 ingress interface", base.DEC),
  out_l2 = ProtoField.uint32("sluice_int.egress_l2", "Level-2 egress interface", base.DEC),
  util = ProtoField.uint32("sluice_int.utilisation", "TX utilisation", base.DEC),
  buffer = ProtoField.uint8("sluice_int.buffer", "Buffer", base.DEC),
  buffer_depth = ProtoField.uint24("sluice_int.buffer_depth", "Buffer occupancy", base.DEC),
  reserved = ProtoField.uint32("sluice_int.reserved", "Reserved instruction", base.HEX),
  ds = ProtoField.bytes("sluice_int.ds", "Domain specific metadata"),
  complement = ProtoField.uint32("sluice_int.complement", "Checksum complement", base.HEX),
  drop_queue = ProtoField.uint8("sluice_int.drop_queue", "Queue of the drop", base.DEC),
  drop_reason = ProtoField.uint8("sluice_int.drop_reason", "Drop reason", base.DEC),
}
int.fields = {}
for _, field in pairs(f) do table.insert(int.fields, field) end
local broken = ProtoExpert.new("sluice_int.broken", "Telemetry is broken", expert.group.MALFORMED, expert.severity.ERROR)
int.experts = { broken }

local r = {
  version = ProtoField.uint8("sluice_report.version", "Version", base.DEC, nil, 0xf0),
  hw_id = ProtoField.uint16("sluice_report.hw_id", "hw_id", base.DEC, nil, 0x0fc0),
  sequence = ProtoField.uint32("sluice_report.sequence", "Sequence number", base.DEC, nil, 0x003fffff),
  node = ProtoField.uint32("sluice_report.node", "Node ID", base.DEC),
  kind = ProtoField.uint8("sluice_report.type", "RepType", base.DEC, REP, 0xf0),
  inner = ProtoField.uint8("sluice_report.inner_type", "InType", base.DEC, INNER, 0x0f),
  length = ProtoField.uint8("sluice_report.length", "Report length (words)", base.DEC),
  md_length = ProtoField.uint8("sluice_report.md_length", "Metadata length (words)", base.DEC),
  drop = ProtoField.bool("sluice_report.dropped", "Dropped packet (D)", 8, nil, 0x80),
  congested = ProtoField.bool("sluice_report.congested", "Congested queue (Q)", 8, nil, 0x40),
  tracked = ProtoField.bool("sluice_report.tracked", "Tracked flow (F)", 8, nil, 0x20),
  intermediate = ProtoField.bool("sluice_report.intermediate", "Intermediate (I)", 8, nil, 0x10),
  bits = ProtoField.uint16("sluice_report.bits", "RepMdBits", base.HEX),
  domain = ProtoField.uint16("sluice_report.domain", "Domain ID", base.HEX),
  ds = ProtoField.uint32("sluice_report.ds", "DSMdBits and DSMdstatus", base.HEX),
  packet = ProtoField.bytes("sluice_report.packet", "What it takes of the packet"),
}
report.fields = {}
for _, field in pairs(r) do table.insert(report.fields, field) end

local h = {
  hops = ProtoField.uint8("sluice_hpcc.hops", "nHop", base.DEC, nil, 0xf0),
  path = ProtoField.uint16("sluice_hpcc.path", "pathID", base.HEX, nil, 0x0fff),
  speed = ProtoField.uint8("sluice_hpcc.speed", "Port speed code", base.DEC, nil, 0xf0),
  time = ProtoField.uint32("sluice_hpcc.time", "Time (ns, 24 bits)", base.DEC),
  bytes = ProtoField.uint32("sluice_hpcc.bytes", "Bytes sent (128 B, 20 bits)", base.DEC),
  queue = ProtoField.uint32("sluice_hpcc.queue", "Queue length", base.DEC),
  count = ProtoField.uint16("sluice_hpcc.ns3_hops", "nHop", base.DEC),
}
hpcc.fields = {}
for _, field in pairs(h) do table.insert(hpcc.fields, field) end

local udp_field, tcp_field = Field.new("udp"), Field.new("tcp")
local udp_dst = Field.new("udp.dstport")
local dscp4, dscp6 = Field.new("ip.dsfield.dscp"), Field.new("ipv6.tclass.dscp")

-- Arithmetic, because Lua got operators on bits only with 5.3, which Wireshark has from 4.4 on.
local function bit_set(bitmap, bit) return math.floor(bitmap / 2 ^ (15 - bit)) % 2 == 1 end

local function words_of(bitmap)
  local words = 0
  for bit = 0, 15 do
    if bit_set(bitmap, bit) then words = words + ((bit >= 4 and bit <= 6) and 2 or 1) end
  end
  return words
end

-- The metadata of one hop, or of a report; answers where it ended.
local function metadata(tvb, tree, at, stop, bitmap, of_report)
  local function number(field, length)
    tree:add(field, tvb(at, length))
    at = at + length
  end
  if bit_set(bitmap, 0) and not of_report then number(f.node, 4) end
  if bit_set(bitmap, 1) then number(f.in_port, 2) number(f.out_port, 2) end
  if bit_set(bitmap, 2) then number(f.latency, 4) end
  if bit_set(bitmap, 3) then number(f.queue, 1) number(f.depth, 3) end
  if bit_set(bitmap, 4) then number(f.in_time, 8) end
  if bit_set(bitmap, 5) then number(f.out_time, 8) end
  if bit_set(bitmap, 6) then number(f.in_l2, 4) number(f.out_l2, 4) end
  if bit_set(bitmap, 7) then number(f.util, 4) end
  if bit_set(bitmap, 8) then number(f.buffer, 1) number(f.buffer_depth, 3) end
  for bit = 9, 14 do
    if bit_set(bitmap, bit) then number(f.reserved, 4) end
  end
  local last = bit_set(bitmap, 15) and 4 or 0
  if stop - last > at then number(f.ds, stop - last - at) end
  if bit_set(bitmap, 15) then
    if of_report then number(f.drop_queue, 1) number(f.drop_reason, 1) else number(f.complement, 4) end
  end
end

-- Shim, header and stack at `at`; false if it is none.
local function dissect_int(tvb, at, root)
  local left = tvb:len() - at
  if left < 16 then return false end
  local kind = tvb(at, 1):bitfield(0, 4)
  if (kind ~= 1 and kind ~= 3) or tvb(at + 4, 1):bitfield(0, 4) ~= 2 then return false end
  local words = tvb(at + 1, 1):uint()
  local length = math.min(4 + 4 * words, left)
  local tree = root:add(int, tvb(at, length))
  tree:add(f.kind, tvb(at, 1))
  tree:add(f.npt, tvb(at, 1))
  tree:add(f.length, tvb(at + 1, 1))
  tree:add(f.original, tvb(at + 2, 2))
  tree:add(f.version, tvb(at + 4, 1))
  tree:add(f.discard, tvb(at + 4, 1))
  local bitmap = tvb(at + 8, 2):uint()
  if kind == 1 then
    tree:add(f.exceeded, tvb(at + 4, 1))
    tree:add(f.mtu, tvb(at + 4, 1))
    tree:add(f.hop_ml, tvb(at + 6, 1))
    tree:add(f.remaining, tvb(at + 7, 1))
  end
  tree:add(f.bitmap, tvb(at + 8, 2))
  tree:add(f.domain, tvb(at + 10, 2))
  tree:add(f.ds_instruction, tvb(at + 12, 2))
  tree:add(f.ds_flags, tvb(at + 14, 2))
  if words < 3 or 4 + 4 * words > left then
    tree:add_proto_expert_info(broken, "The shim's length does not fit")
    return true
  end
  if kind == 3 then return true end
  local block = 4 * tvb(at + 6, 1):bitfield(3, 5)
  if block < 4 * words_of(bitmap) then
    tree:add_proto_expert_info(broken, "Hop ML is less than the instructions ask for")
    return true
  end
  local from, stop, count = at + 16, at + 4 + 4 * words, 0
  while block > 0 and from + block <= stop do
    local hop = tree:add(tvb(from, block), "Hop " .. count .. (count == 0 and " (the newest)" or ""))
    metadata(tvb, hop, from, from + block, bitmap, false)
    from, count = from + block, count + 1
  end
  tree:add(f.hops, count):set_generated()
  if from < stop then tree:add(f.ds, tvb(from, stop - from)):append_text(" (source only)") end
  return true
end

-- INT of an IP packet that begins at `at`, which no other dissector has seen.
local function dissect_ip(tvb, at, root)
  local left = tvb:len() - at
  if left < 40 then return end
  local version = tvb(at, 1):bitfield(0, 4)
  local dscp, protocol, l4
  if version == 4 then
    dscp, protocol, l4 = tvb(at + 1, 1):bitfield(0, 6), tvb(at + 9, 1):uint(), at + 4 * tvb(at, 1):bitfield(4, 4)
  elseif version == 6 then
    dscp, protocol, l4 = tvb(at, 2):bitfield(4, 6), tvb(at + 6, 1):uint(), at + 40
  else
    return
  end
  if l4 + 8 > tvb:len() then return end
  local port = protocol == 17 and tvb(l4 + 2, 2):uint()
  if protocol == 17 and (port == int.prefs.int_port or dscp == int.prefs.dscp) then
    dissect_int(tvb, l4 + 8, root)
  elseif protocol == 6 and dscp == int.prefs.dscp then
    dissect_int(tvb, l4 + 20, root)
  end
end

local function dissect_report(tvb, at, root)
  if tvb:len() - at < 12 or tvb(at, 1):bitfield(0, 4) ~= 2 then return end
  local tree = root:add(report, tvb(at))
  tree:add(r.version, tvb(at, 1))
  tree:add(r.hw_id, tvb(at, 2))
  tree:add(r.sequence, tvb(at, 4))
  tree:add(r.node, tvb(at + 4, 4))
  at = at + 8
  while at + 4 <= tvb:len() do
    local words, md = tvb(at + 1, 1):uint(), tvb(at + 2, 1):uint()
    local stop = words == 0xff and tvb:len() or at + 4 + 4 * words
    if stop > tvb:len() then
      tree:add_proto_expert_info(broken, "The report's length does not fit")
      return
    end
    local one = tree:add(tvb(at, stop - at), "Report")
    local kind, inner = tvb(at, 1):bitfield(0, 4), tvb(at, 1):bitfield(4, 4)
    for _, field in ipairs({ r.kind, r.inner }) do one:add(field, tvb(at, 1)) end
    one:add(r.length, tvb(at + 1, 1))
    one:add(r.md_length, tvb(at + 2, 1))
    for _, field in ipairs({ r.drop, r.congested, r.tracked, r.intermediate }) do one:add(field, tvb(at + 3, 1)) end
    local from = at + 4
    if kind == 1 then
      if from + 8 + 4 * md > stop then
        one:add_proto_expert_info(broken, "The metadata's length does not fit")
        return
      end
      local bits = tvb(from, 2):uint()
      one:add(r.bits, tvb(from, 2))
      one:add(r.domain, tvb(from + 2, 2))
      one:add(r.ds, tvb(from + 4, 4))
      if md < words_of(bits % 0x8000) then
        one:add_proto_expert_info(broken, "The metadata is shorter than RepMdBits ask for")
        return
      end
      metadata(tvb, one, from + 8, from + 8 + 4 * md, bits, true)
      from = from + 8 + 4 * md
    end
    if from < stop then
      one:add(r.packet, tvb(from, stop - from))
      local skip = inner == 3 and 14 or 0
      if inner >= 3 and inner <= 5 then dissect_ip(tvb(0, stop):tvb(), from + skip, root) end
    end
    at = stop
  end
end

local function dissect_hpcc(tvb, at, root)
  if tvb:len() - at < 2 then return end
  local hops = tvb(at, 1):bitfield(0, 4)
  if hops > 5 or at + 2 + 8 * hops > tvb:len() then return end
  local tree = root:add(hpcc, tvb(at, 2 + 8 * hops))
  tree:add(h.hops, tvb(at, 1))
  tree:add(h.path, tvb(at, 2))
  for hop = 0, hops - 1 do
    local from = at + 2 + 8 * hop
    local one = tree:add(tvb(from, 8), "Hop " .. hop)
    one:add(h.speed, tvb(from, 1))
    one:add(h.time, tvb(from, 4), tvb(from, 4):bitfield(4, 24))
    one:add(h.bytes, tvb(from + 3, 3), tvb(from + 3, 3):bitfield(4, 20))
    one:add(h.queue, tvb(from + 6, 2))
  end
end

-- The simulator's: six bytes of its own, five slots, nHop; lowest byte first. Slots are shown in order of the path.
local function dissect_hpcc_ns3(tvb, at, root)
  if tvb:len() - at < 48 then return end
  local count = tvb(at + 46, 2):le_uint()
  local tree = root:add(hpcc, tvb(at + 6, 42))
  tree:add_le(h.count, tvb(at + 46, 2))
  for hop = math.max(0, count - 5), count - 1 do
    local from = at + 6 + 8 * (hop % 5)
    local low, high = tvb(from, 4):le_uint(), tvb(from + 4, 4):le_uint()
    local one = tree:add(tvb(from, 8), "Hop " .. hop)
    one:add(h.speed, tvb(from, 1), (low % 8) * 16)
    one:add(h.time, tvb(from, 4), math.floor(low / 8) % 2 ^ 24)
    one:add(h.bytes, tvb(from + 3, 3), math.floor(low / 2 ^ 27) + (high % 2 ^ 15) * 32)
    one:add(h.queue, tvb(from + 5, 3), math.floor(high / 2 ^ 15))
  end
end

function int.dissector(tvb, pinfo, root)
  local udp, tcp = udp_field(), tcp_field()
  local mark = dscp4() or dscp6()
  local marked = mark and mark.value == int.prefs.dscp
  if udp then
    local port, payload = udp_dst().value, udp.offset + 8
    if port == int.prefs.report_port then
      dissect_report(tvb, payload, root)
    elseif port == int.prefs.hpcc_port then
      if int.prefs.hpcc_ns3 then
        dissect_hpcc_ns3(tvb, payload, root)
      else
        dissect_hpcc(tvb, payload, root)
      end
    elseif marked or port == int.prefs.int_port then
      dissect_int(tvb, payload, root)
    end
  elseif tcp and marked then
    dissect_int(tvb, tcp.offset + 20, root)
  end
end

register_postdissector(int)
