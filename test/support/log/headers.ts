import fc from 'fast-check'
import type { Header } from '../../../domain/log/envelope.ts'

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((b) => Buffer.from(b).toString('hex'))

/** Valid text of a header: well-formed, no control characters, not empty; with astral and combining characters. */
export const headerText = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 24 })
  .map((text) => text.replace(/[\u0000-\u001f\u007f]/g, '.'))

const time = fc
  .date({ min: new Date('0001-01-01T00:00:00.000Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString())

const bodyHeader = fc.record(
  {
    place: fc.constantFrom('inline' as const, 'blob' as const),
    size: fc.nat(),
    mediaType: headerText,
    hash: hex(32),
    cipher: fc.record({ alg: headerText, keyId: headerText, nonce: headerText }),
  },
  { requiredKeys: ['place', 'size', 'mediaType', 'hash'] },
)

const anyMembers: fc.Arbitrary<Header> = fc.record(
  {
    format: fc.constant(1 as const),
    stream: fc.oneof(
      headerText,
      headerText.map((id) => `agent-${id}`),
    ),
    type: headerText,
    version: fc.integer({ min: 1 }),
    runId: headerText,
    agentId: headerText,
    turn: fc.nat(),
    revision: fc.oneof(fc.constant(0), fc.nat()),
    timestamp: time,
    commandId: headerText,
    actor: fc.record(
      {
        kind: fc.constantFrom('user', 'approver', 'model', 'driver', 'courier', 'system', 'gateway', 'backend'),
        id: headerText,
        claimed: fc.constant(true as const),
      },
      { requiredKeys: ['kind', 'id'] },
    ),
    driver: fc.record({ id: headerText, epoch: fc.integer({ min: 1 }) }),
    correlationId: headerText,
    causationId: headerText,
    toolCallId: headerText,
    trace: headerText,
    wakeAt: fc.option(fc.nat()),
    minReader: fc.integer({ min: 1 }),
    keyId: headerText,
    digest: fc.record({ fold: fc.integer({ min: 1 }), value: hex(32) }),
    body: bodyHeader,
  },
  {
    requiredKeys: [
      'format',
      'stream',
      'type',
      'version',
      'turn',
      'revision',
      'timestamp',
      'commandId',
      'actor',
      'body',
    ],
  },
)

/** Any header that the format allows. */
export const anyHeader: fc.Arbitrary<Header> = anyMembers.map((header) => {
  const owned = header.stream.startsWith('agent-') ? { runId: 'r', agentId: 'a', ...header } : header
  if (header.revision === 0) return owned
  const { minReader: _, keyId: __, ...later } = owned
  return later
})
