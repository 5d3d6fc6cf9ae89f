import type { Call } from './call.ts'
import type { Caller } from './caller.ts'
import type { ToolSpec } from './tools/tool-spec.ts'

// ToolScheduler: determines which calls of a turn may run in parallel (seed 000, 5.3).

const within = (path: string, folder: string) =>
  path === folder || folder === '.' || folder === '' || path.startsWith(`${folder}/`)

const touches = (one: readonly string[], other: readonly string[]) =>
  one.some((a) => other.some((b) => within(a, b) || within(b, a)))

/**
 * Whether two calls must run one after the other. A call without declared paths conflicts with every call; if it is
 * pure, it may have read anything and conflicts only with calls that change something.
 */
export function conflicts(a: Call, b: Call, specs: (name: string) => ToolSpec | undefined): boolean {
  if (isBarrier(a, specs) || isBarrier(b, specs)) return true
  const kinds = [specs(a.toolName)?.control, specs(b.toolName)?.control]
  // Both change the agent's own state, where the order of the calls must decide instead of the order of their results.
  // A delegation does not, because its budget share was fixed before.
  if (kinds[0] && kinds[1] && !kinds.includes('delegates')) return true
  return collide(touching(a, specs), touching(b, specs))
}

/** The paths that a call touches. A pure call without declared paths may read anything. */
export function touching(call: Call, specs: (name: string) => ToolSpec | undefined): Touching {
  const { effect, reads, writes } = call
  const undeclared = reads.length === 0 && writes.length === 0 && !specs(call.toolName)?.control
  return undeclared && effect === 'pure' ? { effect, reads: EVERYTHING, writes } : call
}

const EVERYTHING: readonly string[] = ['.']

export function collide(a: Touching, b: Touching): boolean {
  if (touchesAnything(a) || touchesAnything(b)) return true
  return touches(a.writes, b.writes) || touches(a.writes, b.reads) || touches(a.reads, b.writes)
}

export type Touching = Pick<Call, 'effect' | 'reads' | 'writes'>

const touchesAnything = ({ effect, reads, writes }: Touching) =>
  effect !== 'pure' && reads.length === 0 && writes.length === 0

/** Whether a call never runs in parallel with another call. */
export function isBarrier(call: Call, specs: (name: string) => ToolSpec | undefined): boolean {
  const spec = specs(call.toolName)
  return spec === undefined || spec.barrier
}

const IN_FLIGHT: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>([
  ...(['running', 'doubt', 'child', 'budget', 'reply'] as const),
])
const inFlight = ({ stage }: Call) => IN_FLIGHT.has(stage.at)

/**
 * Calls that may start now, in call order. A call must not conflict with an earlier call that has not ended, and at
 * most `maxParallel` calls run at once.
 */
export function startable(state: Caller, calls: readonly Call[]): readonly Call[] {
  const specs = (name: string) => state.spec.tools.find((tool) => tool.name === name)
  const places = state.spec.policy.mode === 'batch' ? state.spec.policy.maxParallel : 1
  let free = places - calls.filter(inFlight).length
  const ready: Call[] = []
  for (const call of calls) {
    if (free <= 0) break
    if (!mayStart(call)) continue
    // The due version must contain the files as the previous calls left them.
    if (state.unversioned != null && call.effect !== 'pure') continue
    const blocked = calls.some(
      (other) => other.index < call.index && other.stage.at !== 'ended' && conflicts(other, call, specs),
    )
    if (blocked) continue
    ready.push(call)
    free--
  }
  return ready
}

/** Whether a call may start: planned and not refused, approved, or resolved as "run". */
function mayStart(call: Call): boolean {
  switch (call.stage.at) {
    case 'planned':
      return call.refused === null
    case 'approved':
      return true
    case 'resolved':
      return call.stage.decision === 'run'
    default:
      return false
  }
}
