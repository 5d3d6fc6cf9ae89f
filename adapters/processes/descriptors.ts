import type { StdioOptions } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, readFileSync } from 'node:fs'
import { ToolError } from '../../domain/calls/errors.ts'

/** Linux's O_CLOEXEC, which Node does not export. Children do not inherit such descriptors. */
const CLOSES = 0o2000000
/** The highest descriptor to replace. Each descriptor costs time at every start. */
const MOST = 16_383

/**
 * Runs `start` with streams that give its child no other descriptor. The process that started keepup may have left
 * files open (`keepup … 200<folder`), which a child would inherit, even in the sandbox. /dev/null replaces each of
 * them. Outside Linux the platform closes them itself. Throws ToolError EXECUTION_FAILED, before any effect, if a
 * descriptor is too high.
 */
export function withoutForeign<T>(stdio: readonly ('ignore' | 'pipe')[], start: (stdio: StdioOptions) => T): T {
  const foreign = inheritable().filter((descriptor) => descriptor >= stdio.length)
  const highest = Math.max(-1, ...foreign)
  if (highest === -1) return start([...stdio])
  if (highest > MOST) throw uncovered(highest)
  const nothing = openSync('/dev/null', constants.O_RDWR)
  try {
    const covered: ('ignore' | 'pipe' | number)[] = [...stdio]
    // Descriptors in between remain closed.
    while (covered.length <= highest) covered.push('ignore')
    for (const descriptor of foreign) covered[descriptor] = nothing
    return start(covered)
  } finally {
    closeSync(nothing)
  }
}

/** The descriptors of this process that a child would inherit. */
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
      // This descriptor read the folder and is now closed.
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
