import { constants } from 'node:os'

// Builds a program in the kernel's classic BPF that decides about each system call of a confined program. Sources:
// linux/filter.h, linux/seccomp.h, linux/audit.h, and the kernel's tables of system calls.

/** The numbers of the system calls of an architecture. `at` is the position of the argument with the mode. */
interface Architecture {
  /** The kernel's AUDIT_ARCH value. */
  readonly audit: number
  /** System calls that set the mode of an existing file. */
  readonly changing: readonly Call[]
  /** System calls that make a file, a pipe or a device with a mode. */
  readonly making: readonly Call[]
  /** System calls that make a file only with the flag O_CREAT or O_TMPFILE. */
  readonly opening: readonly (Call & { readonly flagsAt: number })[]
  /** System calls that the filter disables. */
  readonly missing: readonly number[]
}

interface Call {
  readonly number: number
  readonly at: number
}

/** fchmodat2, with the same number on every architecture. */
const FCHMODAT2 = { number: 452, at: 2 }
/**
 * io_uring_setup, io_uring_enter and io_uring_register open files invisibly to the filter. openat2 passes its mode in
 * memory.
 */
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
/** The bit of S_IFCHR and S_IFBLK. No other type has it. */
const DEVICE = 0o020000
/** O_CREAT, and the bit that only O_TMPFILE has. */
const CREATES = 0o100 | 0o20000000
/** The bit in the call numbers of x32, a second interface of x64. */
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
 * The filter of system calls for bubblewrap's `--seccomp`. Null for other architectures. A program cannot set a
 * set-user-ID or set-group-ID bit (EPERM) or make a device (EPERM). Keyrings and system calls that hide a mode from the
 * filter do not exist for it (ENOSYS). A system call of another architecture kills it. mkdir needs no rule, because
 * Linux drops these bits of its mode.
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

/** A rule for one system call. It loads the number again, because the previous rules load arguments. */
const ruleFor = (number: number, body: readonly Instruction[]): Instruction[] => [
  NUMBER,
  ifEqual(number, body.length),
  ...body,
]

/** Eight bytes per instruction, in the byte order of x64 and arm64. */
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
