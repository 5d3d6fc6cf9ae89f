import { constants } from 'node:os'

// A program of the kernel's classic BPF that decides about each system call of a confined program.
// Sources: linux/filter.h, linux/seccomp.h, linux/audit.h, and the kernel's tables of system calls.

/** The numbers of the system calls of an architecture. `at` is the position of the argument with the mode. */
interface Architecture {
  /** AUDIT_ARCH of the kernel. */
  readonly audit: number
  /** System calls that set the mode of an existing file. */
  readonly changing: readonly Call[]
  /** System calls that make a file, a pipe or a device with a mode. */
  readonly making: readonly Call[]
  /** System calls that make a file only with the flags O_CREAT or O_TMPFILE. */
  readonly opening: readonly (Call & { readonly flagsAt: number })[]
  /** System calls that a program does not have. */
  readonly missing: readonly number[]
}

interface Call {
  readonly number: number
  readonly at: number
}

/** fchmodat2, whose number is the same everywhere. */
const FCHMODAT2 = { number: 452, at: 2 }
/** io_uring_setup, io_uring_enter and io_uring_register open files unseen; openat2 has its mode in memory. */
const UNSEEN = [425, 426, 427, 437]

const ARCHITECTURES: Readonly<Partial<Record<NodeJS.Architecture, Architecture>>> = {
  x64: {
    audit: 0xc000003e,
    // chmod, fchmod, fchmodat
    changing: [{ number: 90, at: 1 }, { number: 91, at: 1 }, { number: 268, at: 2 }, FCHMODAT2],
    // creat, mknod, mknodat
    making: [
      { number: 85, at: 1 },
      { number: 133, at: 1 },
      { number: 259, at: 2 },
    ],
    // open, openat
    opening: [
      { number: 2, at: 2, flagsAt: 1 },
      { number: 257, at: 3, flagsAt: 2 },
    ],
    // add_key, request_key, keyctl
    missing: [...UNSEEN, 248, 249, 250],
  },
  arm64: {
    audit: 0xc00000b7,
    // fchmod, fchmodat
    changing: [{ number: 52, at: 1 }, { number: 53, at: 2 }, FCHMODAT2],
    // mknodat
    making: [{ number: 33, at: 2 }],
    // openat
    opening: [{ number: 56, at: 3, flagsAt: 2 }],
    // add_key, request_key, keyctl
    missing: [...UNSEEN, 217, 218, 219],
  },
}

/** S_ISUID and S_ISGID. */
const SET_ID = 0o6000
/** The bit that S_IFCHR and S_IFBLK have, and no other type. */
const DEVICE = 0o020000
/** O_CREAT, and the bit that is O_TMPFILE's own. */
const CREATES = 0o100 | 0o20000000
/** The bit of the numbers of x32, a second interface of x64. */
const X32 = 0x40000000

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const refused = (error: number) => 0x00050000 | error

type Instruction = readonly [code: number, onTrue: number, onFalse: number, value: number]
/** Loads a 32-bit word of the kernel's description of the call. */
const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const give = (decision: number): Instruction => [0x06, 0, 0, decision]
const ifEqual = (value: number, skip: number): Instruction => [0x15, 0, skip, value]
const ifAtLeast = (value: number, skip: number): Instruction => [0x35, 0, skip, value]
const ifAnyBit = (bits: number, skip: number): Instruction => [0x45, 0, skip, bits]

const NUMBER = load(0)
const AUDIT = load(4)
/** The lower half of an argument. Modes and flags have no upper half. */
const argument = (at: number): Instruction => load(16 + 8 * at)

/**
 * The filter of system calls for bubblewrap's `--seccomp`; null for an architecture without one. A program cannot give a file a
 * set-user-ID or set-group-ID bit (EPERM) or make a device (EPERM), and has neither keyrings nor system calls that hide a mode
 * from the filter (ENOSYS). A system call of another architecture ends it. mkdir needs no rule: Linux drops these bits of its mode.
 */
export function systemCallFilter(architecture: NodeJS.Architecture = process.arch): Buffer | null {
  const found = ARCHITECTURES[architecture]
  if (found === undefined) return null
  const { audit, changing, making, opening, missing } = found
  const { EPERM, ENOSYS } = constants.errno
  const refusing = (bits: number, at: number) => [argument(at), ifAnyBit(bits, 1), give(refused(EPERM))]
  const program = [
    AUDIT,
    [0x15, 1, 0, audit] as const,
    give(KILL),
    NUMBER,
    ...(architecture === 'x64' ? [ifAtLeast(X32, 1), give(refused(ENOSYS))] : []),
    ...missing.flatMap((number) => [ifEqual(number, 1), give(refused(ENOSYS))]),
    ...changing.flatMap(({ number, at }) => ruleFor(number, refusing(SET_ID, at))),
    ...making.flatMap(({ number, at }) => ruleFor(number, refusing(SET_ID | DEVICE, at))),
    ...opening.flatMap(({ number, at, flagsAt }) =>
      ruleFor(number, [argument(flagsAt), ifAnyBit(CREATES, 3), ...refusing(SET_ID, at)]),
    ),
    give(ALLOW),
  ]
  return encoded(program)
}

/** The body decides about one system call. The number is loaded again, because the body loads arguments. */
const ruleFor = (number: number, body: readonly Instruction[]): Instruction[] => [
  NUMBER,
  ifEqual(number, body.length),
  ...body,
]

/** Eight bytes for each instruction, in the order of bytes of x64 and arm64. */
function encoded(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  for (const [index, [code, onTrue, onFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(onTrue, index * 8 + 2)
    bytes.writeUInt8(onFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  }
  return bytes
}
