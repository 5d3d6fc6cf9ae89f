import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkExport, exportedBody, NotAnExport, readExport } from '../../../api/web/exported/exported.ts'
import { isSmall } from '../../../api/web/parts/is-small.ts'

// A file that is dropped on the page may hold anything.

const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }

const HEAD = { export: 1, logId: 'log', runId: 'r1', streams: [{ stream: 'agent-r1', revision: 0, hash: 'ab' }] }
const LINE = {
  header: {
    stream: 'agent-r1',
    type: 'agent_started',
    revision: 0,
    timestamp: '2026-01-01T00:00:00.000Z',
    body: { hash: 'ab', salt: 'cd', size: 2, place: 'inline' },
  },
  hash: 'ef',
  id: 'x',
  body: Buffer.from('{"argumentsRef":{"revision":0,"block":0}}').toString('base64'),
}

async function* texts(...values: readonly unknown[]): AsyncGenerator<string> {
  for (const value of values) yield JSON.stringify(value)
}

/** A value with another one in the place of one of its members. */
function changed(value: unknown, path: readonly number[], to: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined || typeof value !== 'object' || value === null) return to
  const keys = Object.keys(value)
  const key = keys[first % keys.length]!
  const member = changed((value as Record<string, unknown>)[key], rest, to)
  return Array.isArray(value) ? value.with(Number(key), member) : { ...value, [key]: member }
}

describe('a dropped file', () => {
  it('is read as it was written', async () => {
    const { lines } = await readExport('run.ndjson', texts(HEAD, LINE))
    expect(lines).toHaveLength(1)
  })

  it.each([
    ['no time', { ...LINE, header: { ...LINE.header, timestamp: 'soon' } }],
    ['no body in its header', { ...LINE, header: { ...LINE.header, body: null } }],
    ['a negative place', { ...LINE, header: { ...LINE.header, revision: -1 } }],
  ])('whose event has %s is refused', async (_, line) => {
    await expect(readExport('run.ndjson', texts(HEAD, line))).rejects.toThrow('line 2 is no event')
  })

  it('may hold any body', async () => {
    const ref = fc.record({ argumentsRef: fc.jsonValue(), content: fc.jsonValue() })
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), ref), async (body) => {
        const written = { ...LINE, body: Buffer.from(JSON.stringify(body)).toString('base64') }
        const { lines } = await readExport('run.ndjson', texts(HEAD, written))
        exportedBody(lines, lines[0]!)
      }),
      seed,
    )
  })

  it('of any other shape is refused by name, or shown without a fault', async () => {
    const path = fc.array(fc.nat(9), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.boolean(), path, fc.jsonValue(), async (inHead, at, to) => {
        const [head, line] = inHead ? [changed(HEAD, at, to), LINE] : [HEAD, changed(LINE, at, to)]
        const read = await readExport('run.ndjson', texts(head, line)).catch((error: unknown) => error)
        if (read instanceof NotAnExport) return
        const exported = read as Awaited<ReturnType<typeof readExport>>
        for (const one of exported.lines) {
          exportedBody(exported.lines, one)
          expect(new Date(one.header.timestamp).toISOString()).toContain('T')
        }
        await checkExport(exported, () => {}, new AbortController().signal)
      }),
      { ...seed, numRuns: 300 },
    )
  })
})

describe('a value that is opened by itself', () => {
  it('has few members, however deep or wide it is', () => {
    const wide = (n: number) => Array.from({ length: n }, () => 1)
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)
    const bushy = Array.from({ length: 11 }, () => Array.from({ length: 11 }, () => wide(11)))
    expect([wide(40), wide(41), deep, bushy, 'text', null, {}].map(isSmall)).toEqual([
      ...[true, false, false, false],
      ...[true, true, true],
    ])
  })
})
