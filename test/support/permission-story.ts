import { call, calls } from './harness.ts'
import { given, type Said, tool } from './story.ts'

const put = () => tool('put', { effect: 'idempotent' })
export const puts = (n = 1) => calls(call('put', { n }))
export const asks = (more: object = {}) =>
  calls(call('request_permission', { tool: 'put', scope: 'run', until: '2h', reason: 'to save the work', ...more }))
export const denied = { mode: 'batch', deniedTools: ['put'] }
export const ROLE = {
  ...{ name: 'r', profile: 'p', goal: 'g', qualityGates: [], maxReactLoop: 20 },
  phases: ['one', 'two'].map((name) => ({ name, allowedTools: ['look'] })),
}

/**
 * A run whose agent is refused `put` and requests a permission. `put`: the tool; `decide`: decides on a call and
 * continues the drive.
 */
export async function asked(says: readonly Said[], spec: Record<string, unknown> = {}) {
  const tools = [put(), tool('look')]
  const run = await given({ says, tools, spec: { policy: denied, asksPermission: true, ...spec } })
  const decide = async (turn: number, decision: 'approved' | 'rejected', reason?: string) => {
    const why = reason === undefined ? {} : { reason }
    await run.say({ kind: 'decide_approval', toolCallId: run.call(turn), decision, ...why })
    return run.drive()
  }
  return { ...run, put: tools[0]!, decide, end: await run.drive() }
}
