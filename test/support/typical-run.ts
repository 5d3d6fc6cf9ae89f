import type { SealedEvent } from '../../domain/log/envelope.ts'
import type { Json } from '../../domain/log/json.ts'
import { prose as text } from '../bench/text.ts'
import { type Draft, NEW, Sealer, type Tip, tipOf } from './log/sealing.ts'

/** The seven events of a turn in the two appends of a steady turn. Bodies have 60 to 3000 bytes. */
function turnOf(agentId: string, turn: number): [Draft[], Draft[]] {
  const draft = (type: string, suffix: string, body: Json, checkpoint = false): Draft => ({
    type,
    body,
    header: {
      runId: agentId,
      turn,
      commandId: `${agentId}.t${turn}.${suffix}#1`,
      ...(suffix === 'c0' && { toolCallId: `${agentId}.t${turn}.c0` }),
      actor: suffix === 'model' ? { kind: 'model', id: 'claude-sonnet' } : { kind: 'driver', id: 'd1' },
      driver: { id: 'host-1-7f3a', epoch: 1 },
      correlationId: 'req-0001',
      ...(checkpoint && { digest: { fold: 1, value: agentId.length.toString(16).padStart(64, 'c') } }),
    },
  })
  const n = (range: number, salt: number) => (Math.imul(turn + 1, 7919 + salt * 104729) >>> 3) % range
  return [
    [
      draft('model_call_end', 'model', {
        purpose: 'turn',
        attempt: 1,
        content: [
          { type: 'text', text: text(200 + n(1200, 1), turn) },
          {
            type: 'tool_use',
            id: `toolu_${n(1e9, 2).toString(36)}`,
            name: 'read_file',
            input: { path: `src/${turn}.ts` },
          },
        ],
        stopReason: 'tool_use',
        usage: { input: 1200 + turn, output: 180, cacheRead: 0, cacheWrite: 0 },
        nanoDollars: 1234567 + turn,
        durationMs: 900 + n(500, 3),
        servedBy: 'claude-sonnet',
        calls: [
          { block: 1, toolName: 'read_file', argumentsHash: 'a'.repeat(64), reads: [], writes: [], effect: 'pure' },
        ],
      }),
      draft(
        'tool_call_start',
        'c0',
        {
          toolName: 'read_file',
          index: 0,
          argumentsRef: { revision: turn * 7, block: 1 },
          argumentsHash: 'a'.repeat(64),
          attempt: 1,
          effect: 'pure',
          intent: true,
        },
        true,
      ),
    ],
    [
      draft(
        'tool_call_end',
        'c0',
        {
          step: turn * 2 - 1,
          toolName: 'read_file',
          success: true,
          attempt: 1,
          durationMs: 12,
          result: text(300 + n(2600, 4), turn + 7),
        },
        true,
      ),
      draft('turn_end', 'turn', { step: turn * 2, outcome: 'calls', note: text(20, turn) }, true),
      draft('turn_start', 'turn', { unread: 0, note: text(40, turn + 3) }),
      draft('model_routed', 'model', {
        requested: 'claude-sonnet',
        resolved: 'claude-sonnet',
        reason: 'the only capable model',
        policy: 'quality',
        purpose: 'turn',
      }),
      draft(
        'model_call_start',
        'model',
        {
          purpose: 'turn',
          attempt: 1,
          model: 'claude-sonnet',
          request: {
            assembler: 1,
            revision: turn * 7,
            prompt: 5,
            tools: 6,
            inputs: 'e'.repeat(64),
          },
          estimate: { input: 1200 + turn, maxOutput: 4096, nanoDollars: 99999 },
          timeoutMs: 120000,
        },
        true,
      ),
    ],
  ]
}

/** A run's appends, in order. */
export function* typicalRun(agentId: string, turns: number, sealer = new Sealer(agentId)): Generator<SealedEvent[]> {
  let tip: Tip = NEW
  for (let turn = 1; turn <= turns; turn++)
    for (const drafts of turnOf(agentId, turn)) {
      const batch = sealer.batch(`agent-${agentId}`, tip, drafts)
      tip = tipOf(batch)
      yield batch
    }
}

/** The total size of the bodies in some batches, in bytes. */
export function bodyBytes(batches: readonly (readonly SealedEvent[])[]): number {
  return batches.flat().reduce((sum, event) => sum + (event.body?.length ?? 0), 0)
}
