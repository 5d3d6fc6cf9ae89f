import { describe, expect, it } from 'vitest'
import { findCheckpoint, selectCheckpoints } from '../../../projections/agent/queries/checkpoints.ts'
import { checkpointAt } from '../../support/projections/checkpoint.ts'
import { family, openOn } from '../../support/projections/family.ts'
import type { TablesKit } from '../../support/projections/kit.ts'
import { HASH } from '../../support/projections/spec.ts'

export function checkpointsContract(kit: TablesKit): void {
  const open = openOn(kit)
  describe('checkpoints (seed 000, 5.5)', () => {
    it('hold state, pending and completed calls, and usage so far', async () => {
      const { log } = family()
      const db = await open(log)
      const { row, ...checkpoint } = await checkpointAt({ log, blobs: log.blobs }, db, 'r1', 1)
      expect(row).toMatchObject({ id: 'r1.s1', agent_id: 'r1', step: 1 })
      expect(checkpoint).toEqual({
        state: { sopPhase: 'plan', contextVariables: { depth: { a: 1 }, lang: 'v0' } },
        pendingToolCalls: [{ id: 'r1.t1.c1', name: 'run_command', arguments: expect.objectContaining({ path: 'f1' }) }],
        completedToolResults: [
          { toolCallId: 'r1.t1.c0', name: 'read_file', success: true, result: { text: 'of r1.t1.c0' } },
        ],
        pendingCreates: ['a.ts'],
        usage: { inputTokens: 111, outputTokens: 20, cost: 1001 / 1e9, nanoDollars: 1001 },
      })
    })

    it('of a fork inherit phase, variables, calls and usage from the source', async () => {
      const { log, root, actor } = family()
      const fork = actor('r2')
      fork.forkFrom(root, log.events.findLast((e) => e.header.agentId === 'r1')!.header.revision, HASH)
      root.write('context_set', { key: 'lang', argumentsRef: root.given(1) })
      const db = await open(log)
      expect((await selectCheckpoints(db, 'r2')).map((c) => c.step)).toEqual([2, 3])
      const inherited = (await findCheckpoint(db, 'r2', 1))!
      expect(inherited.agent_id).toBe('r1')
      const made = await checkpointAt({ log, blobs: log.blobs }, db, 'r2', 2)
      expect(made.state).toMatchObject({ sopPhase: 'plan', contextVariables: { lang: 'v0' } })
      expect(made.usage.inputTokens).toBe(111)
      expect(made.pendingToolCalls).toEqual([])
      expect(made.completedToolResults.map((r) => [r.toolCallId, r.success])).toEqual([
        ['r1.t1.c0', true],
        ['r1.t1.c1', false],
      ])
      expect(await findCheckpoint(db, 'r2', 4)).toBeNull()
    })

    it('keep their step where their body was erased', async () => {
      const { log, root } = family()
      const target = log.events.find((e) => e.header.type === 'tool_call_end')!.header.revision
      root.endTurn()
      root.finish('completion')
      root.erase([target])
      const db = await open(log)
      expect((await selectCheckpoints(db, 'r1')).map((c) => c.step)).toEqual([1, 2])
      const made = await checkpointAt({ log, blobs: log.blobs }, db, 'r1', 1)
      expect(made.completedToolResults).toEqual([
        { toolCallId: 'r1.t1.c0', name: 'read_file', success: null, erased: true },
      ])
    })
  })
}
