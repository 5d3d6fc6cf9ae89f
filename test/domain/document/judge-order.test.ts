import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EnvelopeAnswer } from '../../../domain/document/envelope/answers.ts'
import { payloadHash } from '../../../domain/document/envelope/request.ts'
import { attack } from '../../support/documents/attacks.ts'
import { answerOf, deletion, ops, replace, request, short, verdict, view } from '../../support/documents/requests.ts'
import { property } from '../../support/property.ts'

// Each check's fault, in the order of the contract. A request may have any of them at once.
const FAULTS = [
  'structure',
  'reused',
  'repeated',
  'limits',
  'hostile',
  'document',
  'frontier',
  'precondition',
  'empty',
  'schema',
] as const
type Fault = (typeof FAULTS)[number]
const EARLIER: EnvelopeAnswer = {
  status: 409,
  body: {
    code: 'AI_PRECONDITION_FAILED',
    phase: 'ai_gateway',
    retryable: true,
    current_frontier: '0:0',
    failed_preconditions: [],
  },
}
const EXPECTED: Readonly<Record<Fault, string>> = {
  structure: '400 INVALID_REQUEST',
  reused: '400 AI_IDEMPOTENCY_KEY_REUSED',
  repeated: '409 AI_PRECONDITION_FAILED 0:0',
  limits: '400 AI_PAYLOAD_REJECTED_LIMITS',
  hostile: '400 AI_PAYLOAD_REJECTED_SANITIZE',
  document: '404 DOCUMENT_NOT_FOUND',
  frontier: '409 AI_PRECONDITION_FAILED 1:9',
  precondition: '409 AI_PRECONDITION_FAILED 1:9 b4',
  empty: '400 AI_PAYLOAD_REJECTED_SANITIZE',
  schema: '422 AI_PAYLOAD_REJECTED_SCHEMA_VIOLATION',
}

describe('the order of the checks', () => {
  it('is the contract’s: the first fault of a request gives the answer', () => {
    const generated = fc.record({
      faults: fc.subarray([...FAULTS]),
      structural: fc.constantFrom('member', 'frontier', 'coverage'),
      limit: fc.constantFrom('bytes', 'depth', 'entity'),
    })
    fc.assert(
      fc.property(generated, ({ faults, structural, limit }) => {
        const has = (fault: Fault) => faults.includes(fault)
        const operations = [
          replace('b1', 'fine'),
          ...(has('hostile') ? [replace('b1', 'a<iframe/>')] : []),
          ...(has('empty') ? [replace('b2', '<img/>')] : []),
          ...(has('schema') ? [replace('b3', '<p>x</p>')] : []),
          ...(has('limits')
            ? [
                replace(
                  'b1',
                  { bytes: 'x'.repeat(1024 * 1024), depth: `${'<i>'.repeat(60)}${'</i>'.repeat(60)}`, entity: '&e;' }[
                    limit
                  ]!,
                ),
              ]
            : []),
        ]
        // Whether each span has a precondition is seen only in a payload within the limits.
        const where = has('limits') && structural === 'coverage' ? 'member' : structural
        const body = request(
          ops(...operations),
          has('structure') && where === 'coverage' ? ['b2', 'b3'] : ['b1', 'b2', 'b3'],
          {
            ...(has('frontier') && { doc_frontier: '1:7' }),
            ...(has('structure') && where === 'frontier' && { doc_frontier: '?' }),
            ...(has('structure') && where === 'member' && { preconditions: 1 }),
          },
        )
        const { preconditions } = body
        const sent =
          has('precondition') && Array.isArray(preconditions)
            ? { ...body, preconditions: [...preconditions, { span_id: 'b4', if_match_context_hash: 'stale' }] }
            : body
        const answered = has('reused')
          ? () => ({ payloadHash: 'another', answer: EARLIER })
          : has('repeated') && !has('structure')
            ? () => ({ payloadHash: payloadHash(sent), answer: EARLIER })
            : () => null
        const result = verdict(sent, { answered, document: has('document') ? null : view })
        const first = FAULTS.find((fault) => has(fault))
        const answer = answerOf(result)
        const told =
          answer?.status === 409
            ? ` ${[answer.body.current_frontier, ...answer.body.failed_preconditions.map(({ span_id }) => span_id)].join(' ')}`
            : ''
        expect(`${short(result)}${told}`).toBe(first === undefined ? 'apply' : EXPECTED[first])
        expect(result.kind).toBe(first === undefined ? 'apply' : first === 'repeated' ? 'repeat' : 'refuse')
      }),
      property(400),
    )
  })
})

describe('any body', () => {
  const mostly = <T, U>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<U>) =>
    fc.oneof({ weight: 9, arbitrary: usual as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: other })
  const part = fc.constantFrom(
    '<ops>',
    '</ops>',
    replace('b1', 'x'),
    deletion('b2'),
    '<insert_blocks after="start">',
    '</insert_blocks>',
    '<p>',
    '</p>',
    '<![CDATA[',
    ']]>',
    '&amp;',
    '&x;',
    '<!--',
    '-->',
    '<?',
    '"',
    '\u0001',
  )
  const xml = fc.oneof(
    fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
    attack.map((markup) => replace('b1', markup)),
    fc.string({ unit: 'binary' }),
  )
  const member = {
    doc_frontier: mostly(fc.constant('1:9'), fc.string()),
    client_request_id: mostly(fc.constant('r1'), fc.string({ unit: 'binary' })),
    ops_xml: xml,
  }
  const preconditions = mostly(fc.constant(request('', ['b1', 'b2']).preconditions), fc.jsonValue())
  const body = mostly(fc.record({ ...member, preconditions }), fc.jsonValue())

  it('gets a verdict, and only answers of the contract', () => {
    const kinds = new Set<string>()
    fc.assert(
      fc.property(body, (sent) => {
        const result = verdict(sent)
        kinds.add(short(result))
        expect([...Object.values(EXPECTED).map((text) => text.split(' ').slice(0, 2).join(' ')), 'apply']).toContain(
          short(result),
        )
        expect(() => JSON.stringify(result)).not.toThrow()
      }),
      property(1000),
    )
    expect(kinds.size).toBeGreaterThan(3)
  })
})
