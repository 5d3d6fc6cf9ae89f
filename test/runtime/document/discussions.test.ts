import { describe, expect, it } from 'vitest'
import { document, documentStream } from '../../../domain/document/stream/aggregate.ts'
import { world } from '../../support/documents/gateway-world.ts'
import { Person } from '../../support/documents/person.ts'
import { ANN, BOB, made, replaceFirst, requestFor, textsOf, typesOf } from '../../support/documents/runtime.ts'

const AGENT = { by: { kind: 'gateway', id: 'ag1' }, name: 'agent:ag1', runId: 'run1', toolCallId: 'ag1.t1.c0' } as const
const ALL = { status: 'all', limit: 1000 } as const
const PLAN = '<p>The <b>quick</b> brown fox 🦊 jumps</p><p>Second</p><table><tr><td>cell one</td></tr></table><hr/>'

async function plan() {
  const { gateway, another, ports } = await world()
  const id = await made(gateway, PLAN)
  const spans = (await gateway.read(id)).blocks.map((block) => block.id!)
  const person = async (peer: string) => new Person(peer, (await gateway.snapshot(id)).bytes)
  const one = async (thread: string) => (await gateway.discussions.list(id, ALL)).threads.find((t) => t.id === thread)!
  return { gateway, another, ports, id, spans, person, one, discuss: gateway.discussions }
}

describe('a suggestion', () => {
  it('changes nothing until a person accepts it; then the change is an edit of that person', async () => {
    const { gateway, discuss, id, spans, ports, one } = await plan()
    const asked = { spanId: spans[0]!, quote: 'quick brown', replacement: 'quick red', reason: 'colour' }
    const made = await discuss.suggest(id, asked, AGENT)
    expect((await textsOf(gateway, id))[0]).toBe('The quick brown fox 🦊 jumps')
    expect(await one(made.id)).toMatchObject({ status: 'open', toolCallId: AGENT.toolCallId, outdated: false })
    const accepted = await discuss.accept(id, made.id, ANN)
    expect((await textsOf(gateway, id))[0]).toBe('The quick red fox 🦊 jumps')
    // The marks stay, and only the differing word is new.
    const [block] = (await gateway.read(id)).blocks
    expect(block).toMatchObject({ text: [{ text: 'The ' }, { text: 'quick', marks: { bold: true } }, {}] })
    const { spans: blamed, sources } = await gateway.history.blame(id, accepted.revision)
    expect(blamed[0]!.parts.filter(({ revision }) => revision === accepted.revision)).toEqual([
      { text: 'red', revision: accepted.revision },
    ])
    const source = { kind: 'suggestion accepted', by: ANN.by, thread: made.id }
    expect(sources.at(-1)).toMatchObject(source)
    expect((await gateway.history.entries(id, -1, 100)).slice(-2)).toMatchObject([{ kind: 'suggested' }, source])
    expect(await one(made.id)).toMatchObject({ status: 'accepted', settled: { by: ANN.by } })
    expect((await typesOf(ports, id)).slice(-3)).toEqual(['suggestion_made', 'suggestion_accepted', 'person_updated'])
    expect(await gateway.history.verify(id)).toMatchObject({ ok: true })
  })

  it('is accepted once when two people accept at the same time', async () => {
    const { gateway, another, discuss, id, spans } = await plan()
    const other = another()
    const { id: thread } = await discuss.suggest(id, { spanId: spans[1]!, replacement: 'Third' }, AGENT)
    const done = await Promise.allSettled([
      discuss.accept(id, thread, ANN),
      other.discussions.accept(id, thread, BOB),
      discuss.refuse(id, thread, 'no', BOB),
    ])
    expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    const refused = done.find((one) => one.status === 'rejected')!.reason
    expect(refused).toMatchObject({
      code: 'COMMENT_SETTLED',
      message: expect.stringMatching(/by (ann|bob) at .*revision/),
    })
    expect((await gateway.history.verify(id)).ok).toBe(true)
  })

  it('follows its text through edits before, after and beside it', async () => {
    const { gateway, discuss, id, spans, person, one } = await plan()
    const { id: thread } = await discuss.suggest(id, { spanId: spans[0]!, quote: 'fox 🦊', replacement: 'hen' }, AGENT)
    const bob = await person('77')
    const edit = bob.change(() => {
      bob.text(0).insert(0, 'Now: 🙂 ')
      bob.text(0).insert(bob.text(0).toString().indexOf('🦊') + 2, '!')
      bob.text(0).insert(bob.text(0).toString().indexOf('fox'), 'big ')
    })
    await gateway.import(id, edit, BOB)
    expect(await one(thread)).toMatchObject({ outdated: false, range: { text: 'fox 🦊' } })
    await discuss.accept(id, thread, ANN)
    expect((await textsOf(gateway, id))[0]).toBe('Now: 🙂 The quick brown big hen! jumps')
  })

  it.each([
    ['text within', (bob: Person) => bob.text(0).insert(7, 'X'), 'is now "quiXck"'],
    ['its end', (bob: Person) => bob.text(0).delete(8, 1), 'is now "quic"'],
    ['its start', (bob: Person) => bob.text(0).delete(4, 1), 'is now "uick"'],
    ['all of it', (bob: Person) => bob.text(0).delete(3, 6), 'was deleted'],
    ['its block', (bob: Person) => bob.blocks.delete(0, 1), 'was deleted'],
  ])('is outdated and never applied after a change of %s', async (_, change, why) => {
    const { gateway, discuss, id, spans, person, one } = await plan()
    const { id: thread } = await discuss.suggest(id, { spanId: spans[0]!, quote: 'quick', replacement: 'slow' }, AGENT)
    const bob = await person('77')
    await gateway.import(
      id,
      bob.change(() => change(bob)),
      BOB,
    )
    const before = await textsOf(gateway, id)
    expect(await one(thread)).toMatchObject({ status: 'open', outdated: true })
    const refusal = { code: 'SUGGESTION_OUTDATED', message: expect.stringContaining(why) }
    await expect(discuss.accept(id, thread, ANN)).rejects.toMatchObject(refusal)
    expect(await textsOf(gateway, id)).toEqual(before)
    await discuss.refuse(id, thread, 'too late', ANN)
    expect(await one(thread)).toMatchObject({ status: 'refused', settled: { reason: 'too late' } })
  })

  it('is outdated after another edit of the gateway and after its own text was accepted', async () => {
    const { gateway, discuss, id, spans } = await plan()
    const suggest = (replacement: string) =>
      discuss.suggest(id, { spanId: spans[1]!, quote: 'Second', replacement }, AGENT)
    const [a, b] = [await suggest('Third'), await suggest('Fourth')]
    await discuss.accept(id, a.id, ANN)
    await expect(discuss.accept(id, b.id, ANN)).rejects.toMatchObject({ code: 'SUGGESTION_OUTDATED' })
    const c = await discuss.suggest(id, { spanId: spans[0]!, quote: 'jumps', replacement: 'sits' }, AGENT)
    await gateway.envelope(id, await requestFor(gateway, id, 'r1', replaceFirst('All new')), BOB)
    await expect(discuss.accept(id, c.id, ANN)).rejects.toMatchObject({ code: 'SUGGESTION_OUTDATED' })
  })

  it('deletes its text, and works in a table cell', async () => {
    const { gateway, discuss, id, spans } = await plan()
    const cell = `${spans[2]}/0/0`
    const { id: a } = await discuss.suggest(id, { spanId: cell, quote: ' one', replacement: '' }, BOB)
    await discuss.accept(id, a, ANN)
    expect((await textsOf(gateway, id))[2]).toBe('cell')
  })
})

describe('a comment', () => {
  it('gets replies, shows the present text, and is resolved once', async () => {
    const { gateway, discuss, id, spans, person, one, ports } = await plan()
    const { id: c } = await discuss.comment(id, { spanId: spans[0]!, quote: 'brown fox' }, 'Why brown?', ANN)
    await discuss.reply(id, c, 'Because.', AGENT)
    const bob = await person('77')
    await gateway.import(
      id,
      bob.change(() => bob.text(0).insert(12, 'ish')),
      BOB,
    )
    expect(await one(c)).toMatchObject({
      ...{ kind: 'comment', text: 'Why brown?', by: ANN.by, status: 'open', outdated: false },
      range: { text: 'brishown fox' },
      replies: [{ text: 'Because.', by: AGENT.by, toolCallId: AGENT.toolCallId }],
    })
    await discuss.resolve(id, c, BOB)
    await expect(discuss.resolve(id, c, ANN)).rejects.toMatchObject({ code: 'COMMENT_SETTLED' })
    await expect(discuss.reply(id, c, 'late', ANN)).rejects.toMatchObject({ code: 'COMMENT_SETTLED' })
    await expect(discuss.accept(id, c, ANN)).rejects.toMatchObject({ code: 'COMMENT_UNKNOWN' })
    expect((await typesOf(ports, id)).slice(-2)).toEqual(['person_updated', 'comment_resolved'])
  })

  it('is recorded once for a repeated key of its caller', async () => {
    const { discuss, id, spans } = await plan()
    const ask = (caller = AGENT as never) =>
      discuss.comment(id, { spanId: spans[1]! }, 'Once', caller, AGENT.toolCallId)
    const first = await ask()
    expect(await ask()).toEqual(first)
    expect((await ask(ANN as never)).id).not.toBe(first.id)
  })

  it('with one key is added once by requests at the same time, also in two processes', async () => {
    const { discuss, another, id, spans } = await plan()
    const ask = (of = discuss, text = 'Once') => of.comment(id, { spanId: spans[1]!, quote: 'Second' }, text, ANN, 'k1')
    const other = another().discussions
    const made = await Promise.all([ask(), ask(), ask(other), ask(other)])
    expect(new Set(made.map((one) => `${one.id} ${one.revision}`)).size).toBe(1)
    expect((await discuss.list(id, ALL)).threads).toHaveLength(1)
    expect(await ask(other)).toEqual(made[0])
  })

  it('and a suggestion with the key of another request are refused, with that of an erased one are not', async () => {
    const { gateway, discuss, id, spans, person } = await plan()
    const reused = { code: 'IDEMPOTENCY_KEY_REUSED' }
    const at = { spanId: spans[0]!, quote: 'u', start: 'The q'.length }
    const first = await discuss.comment(id, at, 'one', ANN, 'k1')
    const other = { ...at, start: 'The quick brown fox 🦊 j'.length }
    await expect(discuss.comment(id, at, 'two', ANN, 'k1')).rejects.toMatchObject(reused)
    await expect(discuss.comment(id, other, 'one', ANN, 'k1')).rejects.toMatchObject(reused)
    await expect(discuss.comment(id, { spanId: spans[1]! }, 'one', ANN, 'k1')).rejects.toMatchObject(reused)
    await expect(discuss.suggest(id, { ...at, replacement: 'one' }, ANN, 'k1')).rejects.toMatchObject(reused)
    const bob = await person('77')
    const edit = bob.change(() => bob.text(0).insert(0, 'Now: '))
    await gateway.import(id, edit, BOB)
    expect(await discuss.comment(id, at, 'one', ANN, 'k1')).toEqual(first)
    await gateway.erase(id, { revision: first.revision, reason: 'asked' }, ANN)
    expect(await discuss.comment(id, at, 'one', ANN, 'k1')).toEqual(first)
    const asked = { spanId: spans[1]!, replacement: 'Third' }
    await discuss.suggest(id, { ...asked, reason: 'a' }, ANN, 'k2')
    await expect(discuss.suggest(id, { ...asked, reason: 'b' }, ANN, 'k2')).rejects.toMatchObject(reused)
    await expect(discuss.suggest(id, { ...asked, replacement: 'x' }, ANN, 'k2')).rejects.toMatchObject(reused)
  })

  it('gets a reply with one key once, also by another process and after it was resolved', async () => {
    const { discuss, another, id, spans, one } = await plan()
    const { id: c } = await discuss.comment(id, { spanId: spans[1]! }, 'Why?', ANN)
    const { id: d } = await discuss.comment(id, { spanId: spans[1]! }, 'How?', ANN)
    const other = another().discussions
    const ask = (of = discuss) => of.reply(id, c, 'So.', BOB, 'k1')
    const made = await Promise.all([ask(), ask(other), ask(), ask(other)])
    expect(new Set(made.map(({ revision }) => revision)).size).toBe(1)
    await discuss.resolve(id, c, ANN)
    expect(await ask()).toEqual(made[0])
    expect((await one(c)).replies).toHaveLength(1)
    const reused = { code: 'IDEMPOTENCY_KEY_REUSED' }
    await expect(discuss.reply(id, c, 'Thus.', BOB, 'k1')).rejects.toMatchObject(reused)
    await expect(other.reply(id, d, 'So.', BOB, 'k1')).rejects.toMatchObject(reused)
    expect((await discuss.reply(id, d, 'So.', ANN, 'k1')).revision).toBeGreaterThan(made[0]!.revision)
  })

  it('is listed in pages, and looks for its text only while it is open', async () => {
    const { discuss, id, spans } = await plan()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push((await discuss.comment(id, { spanId: spans[1]! }, `c${n}`, ANN)).id)
    for (const settled of [ids[0]!, ids[2]!]) await discuss.resolve(id, settled, ANN)
    const page = async (asked: Parameters<typeof discuss.list>[1]) => {
      const { threads, next, settled } = await discuss.list(id, asked)
      return { ids: threads.map((thread) => thread.id), next, settled }
    }
    const [a, b, c, d, e] = ids as [string, string, string, string, string]
    expect(await page({ status: 'open', limit: 2 })).toEqual({ ids: [b, d], next: d, settled: 2 })
    expect(await page({ status: 'open', limit: 2, after: d })).toEqual({ ids: [e], next: null, settled: 2 })
    // A page can continue after a comment that was resolved since.
    expect(await page({ status: 'open', limit: 3, after: c })).toEqual({ ids: [d, e], next: null, settled: 2 })
    expect(await page({ status: 'all', order: 'newest', limit: 3 })).toEqual({ ids: [e, d, c], next: c, settled: 2 })
    expect(await page({ status: 'all', order: 'newest', limit: 3, after: c })).toMatchObject({
      ids: [b, a],
      next: null,
    })
    await expect(page({ status: 'all', limit: 3, after: 'nothing' })).rejects.toMatchObject({ code: 'COMMENT_UNKNOWN' })
    const { threads } = await discuss.list(id, ALL)
    expect(threads.map(({ range }) => range?.text ?? null)).toEqual([null, 'Second', null, 'Second', 'Second'])
  })

  it.each([
    ['no such span', { spanId: 'nothing' }, 'no text with the span id'],
    ['a divider', { spanId: 'divider' }, 'no text with the span id'],
    ['a table', { spanId: 'table' }, 'no text with the span id'],
    ['another text', { quote: 'slow' }, 'text is now "The quick brown fox'],
    ['a text that stands there twice', { quote: 'u' }, 'several times'],
  ])('on %s is refused', async (_, at, why) => {
    const { discuss, id, spans } = await plan()
    const named = 'spanId' in at ? at.spanId : ''
    const place = { '': spans[0]!, divider: spans[3]!, table: spans[2]! }[named as ''] ?? named
    const asked = discuss.comment(id, { ...at, spanId: place }, 'x', ANN)
    await expect(asked).rejects.toMatchObject({ code: 'QUOTE_REFUSED', message: expect.stringContaining(why) })
  })

  it('with the start of its quote is about that place', async () => {
    const { discuss, id, spans, one } = await plan()
    const start = 'The quick brown fox 🦊 j'.length
    const { id: c } = await discuss.comment(id, { spanId: spans[0]!, quote: 'u', start }, 'this one', ANN)
    expect(await one(c)).toMatchObject({ range: { start, end: start + 1 } })
  })

  it('is erased for ever with its quote', async () => {
    const { gateway, another, discuss, id, spans, ports } = await plan()
    const { id: c, revision } = await discuss.comment(id, { spanId: spans[1]! }, 'private', ANN)
    expect((await discuss.list(id, ALL)).threads).toHaveLength(1)
    await gateway.erase(id, { revision, reason: 'asked' }, ANN)
    for (const { discussions } of [gateway, another()])
      expect((await discussions.list(id, ALL)).threads).toMatchObject([
        { id: c, text: null, anchor: { quote: null }, status: 'open' },
      ])
    await discuss.resolve(id, c, ANN)
    expect(await gateway.history.verify(id)).toMatchObject({ ok: true })
    expect(await ports.log.head(documentStream(id))).not.toBe(null)
  })

  it('and a suggestion with half of a surrogate pair is refused', async () => {
    const { discuss, id, spans } = await plan()
    const refusal = { code: 'CONTENT_REFUSED' }
    await expect(discuss.comment(id, { spanId: spans[1]! }, 'a\ud800', ANN)).rejects.toMatchObject(refusal)
    const asked = discuss.suggest(id, { spanId: spans[1]!, replacement: '\udc00' }, ANN)
    await expect(asked).rejects.toMatchObject(refusal)
  })
})

it('at most 1,000 comments and suggestions are open', () => {
  const state = { title: 'Plan', gatewayPeer: '1', frontier: '', root: '', updates: 0 }
  const open = (n: number) =>
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`c${i}`, { kind: 'comment' as const, revision: i }]))
  const anchor = { span: 'b', start: 'AA==', end: 'AA==', quote: 'q' }
  const decide = (n: number) =>
    document.decide(
      { ...state, open: open(n) },
      { revision: 5, at: 0 } as never,
      { kind: 'comment', comment: 'new', anchor, text: 't' },
      { by: ANN.by, commandId: 'x', now: 0, salt: () => new Uint8Array(16) } as never,
    )
  expect(decide(999).drafts).toHaveLength(1)
  expect(() => decide(1000)).toThrow(expect.objectContaining({ code: 'TOO_MANY_COMMENTS' }))
})
