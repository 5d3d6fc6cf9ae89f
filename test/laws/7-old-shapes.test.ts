import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentBodies, agentVersions, type EventType } from '../../domain/agent/events/events.ts'
import { upcasters } from '../../domain/agent/events/upcasters.ts'
import { AGGREGATES } from '../../domain/kinds.ts'
import { Header } from '../../domain/log/envelope.ts'
import { GOLDEN, recorded } from '../support/golden/files.ts'
import { missingShapes } from '../support/golden/missing.ts'
import { externalShapes, otherShapes, shapes } from '../support/golden/shapes.ts'

// Law 7: every shape that was ever stored stays readable, and every shape that is stored stands in a recorded history.

const frozen = (file: string) => JSON.parse(readFileSync(join(GOLDEN, file), 'utf8')) as Record<string, string>
const known = frozen('shapes.json')

const HOW =
  'a stored shape changed: put its old schema back, add a new version with an upcaster, and run node test/support/record-golden.ts'

test.each([
  ['agents', 'shapes.json', shapes],
  ['external agents', 'external-shapes.json', externalShapes],
  ['all other streams', 'other-shapes.json', otherShapes],
] as const)('no stored shape of %s changes without a new version', (_, file, now) => {
  for (const [name, hash] of Object.entries(now())) expect(frozen(file)[name], `${name}: ${HOW}`).toBe(hash)
})

test('the shapes of every kind of stream are frozen', () => {
  const all = new Set([...Object.keys(externalShapes()), ...Object.keys(otherShapes()), ...Object.keys(known)])
  for (const { kind, versions } of AGGREGATES.values())
    for (const [type, version] of Object.entries(versions))
      expect(
        [`${kind === 'gateway' ? 'document' : kind}.${type}@${version}`, `${type}@${version}`].some((name) =>
          all.has(name),
        ),
        `${kind}: ${type}`,
      ).toBe(true)
})

test('every version that was ever recorded is brought up to the current one', () => {
  for (const name of Object.keys(known)) {
    const [type, version] = name.split('@') as [EventType | 'header', string]
    if (type === 'header') continue
    expect(Object.keys(agentBodies), `${type} was stored once, so it stays readable`).toContain(type)
    for (let v = Number(version); v < agentVersions[type]; v++)
      expect(upcasters[type]?.[v], `${type} ${v}`).toBeTypeOf('function')
  }
})

/** Shapes that are in the format, and that this program does not write yet. */
const UNWRITTEN = [
  // Obligations of a stream that has lost its end before (the law of losses of trees), and children of the first day.
  ...[
    ...['agent_started', 'budget_received', 'cancel_requested', 'child_artifact', 'child_requested_budget'],
    ...['child_usage', 'paused', 'resumed'],
  ].map((type) => `${type}.origin.losses`),
  'agent_started.parent.ancestors: absent',
  // Documents, runs of other agents and the other streams without an agent.
  'header.actor.kind: gateway',
  'header.agentId: absent',
  'header.runId: absent',
  // Encryption of bodies and of whole results.
  'late_outcome.attachment.cipher',
  'tool_call_end.attachment.cipher',
  // Memories are no source of knowledge yet, and only they have no text in the spec.
  'knowledge_added.items[].source.kind: memory',
  'knowledge_added.items[].text',
  // Only what is left of an erased body has none.
  'agent_started.hashSalt: absent',
  'forked.hashSalt: absent',
  // One shape for all decisions about calls, of which each event needs a part.
  ...['method: permission', 'method: policy', 'policyHash: null'].map((one) => `approval_decided.decided.${one}`),
  ...[
    ...['askedAt: absent', 'method: permission', 'method: policy', 'method: standing_approval', 'policyHash: null'],
    'rule',
  ].map((one) => `approval_supported.decided.${one}`),
  ...['askedAt', 'method: person', 'method: standing_approval', 'policyHash: null', 'rule: absent', 'shownHash'].map(
    (one) => `tool_call_start.decided.${one}`,
  ),
  // Kinds of reasons that a person names.
  ...['legal', 'mistake', 'retention', 'secret', 'subject_request'].map((code) => `erased.code: ${code}`),
  // A key per run.
  'header.body.cipher',
  'header.keyId',
  // A fork can be given other turns, not another time.
  'forked.changes.limits.maxTurns: absent',
  'forked.changes.limits.wallClockMs',
  // Only what is refused names a rule.
  'late_outcome.error.rule',
  'restore_ended.error.rule',
  'summary_failed.error.rule',
  'tool_call_retry.error.rule',
  'workspace_versioned.unversioned.rule',
  // Working memory that comes from elsewhere than the arguments of set_context.
  'context_set: key, value',
  // Artifacts that are neither text nor files.
  'artifact_registered.artifact.mimeType',
  'child_artifact.artifact.mimeType',
]

test('the recorded histories hold every stored type in every shape that this program writes', () => {
  const values = new Map<string, unknown[]>(Object.keys(agentBodies).map((type) => [type, []]))
  const headers: Header[] = []
  for (const { text } of recorded()) {
    for (const line of text.trim().split('\n')) {
      const { header, body } = JSON.parse(line) as { header: Header; body: string }
      headers.push(header)
      // Runs of other agents have types of their own, some under the same names (7-golden-external).
      if (header.stream.startsWith('external-')) continue
      if (header.version === agentVersions[header.type as EventType]) values.get(header.type)?.push(JSON.parse(body))
    }
  }
  const missing = Object.entries(agentBodies).flatMap(([type, schema]) =>
    missingShapes(type, schema, values.get(type)!),
  )
  missing.push(...missingShapes('header', Header, headers))
  const how = 'write a history of it in test/support/golden, and run node test/support/record-golden.ts'
  expect(missing.sort(), how).toEqual([...UNWRITTEN].sort())
})
