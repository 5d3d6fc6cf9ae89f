import { projected, type TablesKit } from './kit.ts'
import { MemoryLog } from './memory-log.ts'
import { HASH } from './spec.ts'
import { Actor } from './story.ts'

export const T0 = Date.UTC(2026, 0, 1)

/** An empty log and its agents. */
export function world() {
  const log = new MemoryLog()
  let at = T0
  const now = () => ++at
  return { log, actor: (id: string, run = id) => new Actor(log, now, id, run) }
}

/** Tables of a log for one test, for queries. */
export const openOn = (kit: TablesKit) => async (log: MemoryLog) => {
  const tables = await kit.fresh()
  await projected(log, tables)
  return tables.db
}

/** A root that reads a file, asks to run a command and delegates; its child fails. */
export function family() {
  const { log, actor } = world()
  const [root, child] = [actor('r1'), actor('r1x', 'r1')]
  root.start()
  root.user('user_input', { text: 'build it' })
  root.beginTurn()
  root.answer(['read_file', 'run_command'])
  root.write('context_set', { key: 'lang', argumentsRef: root.given(0) }, { toolCallId: 'r1.t1.c0' })
  root.write(
    'artifact_registered',
    { artifact: { id: 'p1', type: 'plan', title: 'Plan', argumentsRef: { ...root.given(0), item: 0 }, size: 6 } },
    { toolCallId: 'r1.t1.c0' },
  )
  root.endCall('r1.t1.c0', 'read_file')
  root.calls[0]!.status = 'ended'
  child.start({ agentId: 'r1', toolCallId: 'r1.t1.c0' })
  child.beginTurn()
  child.write('model_attempt_lost', {
    purpose: 'turn',
    attempt: 1,
    usage: { input: 9, output: 1, cacheRead: 0, cacheWrite: 0 },
    nanoDollars: 50,
  })
  child.finish('error')
  const body = {
    toolName: 'run_command',
    argumentsRef: root.given(1),
    argumentsHash: HASH,
    expiresAt: new Date(T0 + 9e5).toISOString(),
    reason: 'sensitive',
  }
  root.write('approval_requested', body, { toolCallId: 'r1.t1.c1' })
  return { log, root, child, actor }
}
