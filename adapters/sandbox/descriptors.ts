import type { StdioOptions } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, readFileSync } from 'node:fs'
import { ToolError } from '../../domain/agent/errors.ts'

/** Linux's O_CLOEXEC, which Node does not name: the descriptor ends with our program. */
const CLOSES = 0o2000000
/** Descriptors above this are not covered: each one below costs time at every start. */
const MOST = 16_383

/**
 * Runs `start` with streams that keep from its child every descriptor that is not meant for it. Whoever started us may have
 * left files open (`keepup … 200<folder`), and a child inherits them wherever they lie, into the sandbox too: each is
 * covered by /dev/null. Where Linux's /proc is missing nothing is covered: elsewhere the platform closes them itself.
 * Throws a ToolError (EXECUTION_FAILED, before any effect) for one that is too high to be covered.
 */
export function withoutForeign<T>(stdio: readonly ('ignore' | 'pipe')[], start: (stdio: StdioOptions) => T): T {
  const foreign = inheritable().filter((descriptor) => descriptor >= stdio.length)
  const highest = Math.max(-1, ...foreign)
  if (highest === -1) return start([...stdio])
  if (highest > MOST) throw uncovered(highest)
  const nothing = openSync('/dev/null', constants.O_RDWR)
  try {
    const covered: ('ignore' | 'pipe' | number)[] = [...stdio]
    // Not a stream at all, so that the descriptors in between stay as they are: closed.
    while (covered.length <= highest) covered.push('ignore')
    for (const descriptor of foreign) covered[descriptor] = nothing
    return start(covered)
  } finally {
    closeSync(nothing)
  }
}

/** Our descriptors that a program which we start would have too. */
function inheritable(): number[] {
  let all: string[]
  try {
    all = readdirSync('/proc/self/fdinfo')
  } catch {
    return []
  }
  return all.map(Number).filter((descriptor) => {
    try {
      const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1]
      return flags !== undefined && (Number.parseInt(flags, 8) & CLOSES) === 0
    } catch {
      // It read this folder, and is closed.
      return false
    }
  })
}

const uncovered = (descriptor: number): ToolError =>
  new ToolError(
    'EXECUTION_FAILED',
    `descriptor ${descriptor} was open when this program was started, and commands would have it too; start it without ` +
      `(${descriptor}<&-)`,
    { beforeEffect: true },
  )
