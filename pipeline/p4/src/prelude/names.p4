// Widths and names that both architectures share. The chip decides the widths of queues and mirror sessions.

#define PACK_VERSION(major, minor, patch) (((major) << 24) + ((minor) << 12) + (patch))
#define COMPILER_VERSION PACK_VERSION(__p4c_major__, __p4c_minor__, __p4c_patchlevel__)

#define PORT_ID_WIDTH 9
#define MULTICAST_GROUP_ID_WIDTH 16
#define RESUBMIT_TYPE_WIDTH 3
#define DIGEST_TYPE_WIDTH 3
#define REPLICATION_ID_WIDTH 16
#define L1_EXCLUSION_ID_WIDTH 16
#define L2_EXCLUSION_ID_WIDTH 9
#if __TARGET_TOFINO__ == 1
#define QUEUE_ID_WIDTH 5
#define MIRROR_TYPE_WIDTH 3
#define MIRROR_ID_WIDTH 10
#else
#define QUEUE_ID_WIDTH 7
#define MIRROR_TYPE_WIDTH 4
#define MIRROR_ID_WIDTH 8
#endif

typedef bit<PORT_ID_WIDTH> PortId_t;
typedef bit<MULTICAST_GROUP_ID_WIDTH> MulticastGroupId_t;
typedef bit<QUEUE_ID_WIDTH> QueueId_t;
typedef bit<MIRROR_TYPE_WIDTH> MirrorType_t;
typedef bit<MIRROR_ID_WIDTH> MirrorId_t;
typedef bit<RESUBMIT_TYPE_WIDTH> ResubmitType_t;
typedef bit<DIGEST_TYPE_WIDTH> DigestType_t;
typedef bit<REPLICATION_ID_WIDTH> ReplicationId_t;
typedef bit<L1_EXCLUSION_ID_WIDTH> L1ExclusionId_t;
typedef bit<L2_EXCLUSION_ID_WIDTH> L2ExclusionId_t;
typedef error ParserError_t;

// Bits between the ingress intrinsic metadata and the packet.
#if __TARGET_TOFINO__ == 1
const bit<32> PORT_METADATA_SIZE = 64;
#else
typedef MirrorType_t CloneId_t;
const bit<32> PORT_METADATA_SIZE = 192;
#endif

// A device port is a pipe and a port of that pipe.
#define DEVPORT_PIPE_MASK 0x180
#define DEVPORT_PIPE(port) (port)[8:7]
#define DEVPORT_PORT_MASK 0x7f
#define DEVPORT_PORT(port) (port)[6:0]

// Bits of `parser_err`.
const bit<16> PARSER_ERROR_OK = 0;
const bit<16> PARSER_ERROR_NO_MATCH = 0x0001;
const bit<16> PARSER_ERROR_PARTIAL_HDR = 0x0002;
const bit<16> PARSER_ERROR_CTR_RANGE = 0x0004;
const bit<16> PARSER_ERROR_TIMEOUT_USER = 0x0008;
const bit<16> PARSER_ERROR_TIMEOUT_HW = 0x0010;
const bit<16> PARSER_ERROR_SRC_EXT = 0x0020;
const bit<16> PARSER_ERROR_DST_CONT = 0x0040;
const bit<16> PARSER_ERROR_PHV_OWNER = 0x0080;
const bit<16> PARSER_ERROR_MULTIWRITE = 0x0100;
const bit<16> PARSER_ERROR_ARAM_MBE = 0x0400;
const bit<16> PARSER_ERROR_FCS = 0x0800;
const bit<16> PARSER_ERROR_CSUM_MBE = 0x1000;

error { CounterRange, Timeout, PhvOwner, MultiWrite, IbufOverflow, IbufUnderflow }

match_kind { range, selector, atcam_partition_index, dleft_hash }

enum MeterType_t { PACKETS, BYTES }
enum bit<8> MeterColor_t { GREEN = 0, YELLOW = 1, RED = 3 }
enum CounterType_t { PACKETS, BYTES, PACKETS_AND_BYTES }
enum SelectorMode_t { FAIR, RESILIENT }
enum HashAlgorithm_t { IDENTITY, RANDOM, XOR8, XOR16, XOR32, CRC8, CRC16, CRC32, CRC64, CUSTOM }
enum MathOp_t { MUL, SQR, SQRT, DIV, RSQR, RSQRT }
