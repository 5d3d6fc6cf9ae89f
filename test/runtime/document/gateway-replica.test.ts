import { describe, expect, test } from 'vitest'
import { PIECE } from '../../../domain/document/runtime/answers.ts'
import { stays } from '../../../domain/document/runtime/replica-cache.ts'
import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { canonicalText } from '../../../domain/log/canonical.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { world } from '../../support/documents/gateway-world.ts'
import { Person } from '../../support/documents/person.ts'
import {
  ANN,
  BOB,
  DocumentGateway,
  KeptSnapshots,
  made,
  replaceFirst,
  requestFor,
  textsOf,
} from '../../support/documents/runtime.ts'

describe('snapshots of the replica', () => {
  type Kept = { sum: string; state: { root: string }; bytes: string }

  async function long() {
    const { ports } = await world()
    const snapshots = new KeptSnapshots()
    const gateway = new DocumentGateway({ ...ports, snapshots })
    const id = await made(gateway, '<p>Hello</p>')
    const person = new Person('77', (await gateway.snapshot(id)).bytes)
    for (let n = 0; n < 1010; n++)
      await gateway.import(
        id,
        person.change(() => person.text(0).insert(0, `${n % 10}`)),
        BOB,
      )
    await gateway.close()
    const places = [`${documentStream(id)}#replica-newest 1`, `${documentStream(id)}#replica 1`]
    const kept = places.map((place) => snapshots.held.get(place)![0]!)
    /** Puts another state in both places. */
    const replace = (change: (state: Kept) => Kept) =>
      places.forEach((place, i) => {
        const state = change(structuredClone(kept[i]!.state) as never)
        snapshots.held.set(place, [{ ...kept[i]!, state: state as never }])
      })
    return { ports, snapshots, id, kept, replace, text: person.text(0).toString() }
  }

  test('open a document without the updates before them; one that is damaged or altered is left aside and reported', async () => {
    const { ports, snapshots, id, kept, replace, text } = await long()
    const opened: number[] = []
    const documents: typeof ports.documents = {
      ...ports.documents,
      async open(stored) {
        const updates = await Array.fromAsync(stored.updates)
        opened.push(updates.length)
        return ports.documents.open({ ...stored, updates })
      },
    }
    const told: string[] = []
    const warn = (of: string, message: string) => void told.push(`${of}: ${message}`)
    const open = async () => {
      const gateway = new DocumentGateway({ ...ports, snapshots, documents, warn })
      expect((await textsOf(gateway, id))[0]).toBe(text)
      await gateway.close()
    }
    await open()
    expect([opened.at(-1)! < 20, told]).toEqual([true, []])
    const { sum } = kept[0]!.state as unknown as Kept
    replace((state) => ({ ...state, bytes: `${state.bytes.slice(0, 40)}AAAA${state.bytes.slice(44)}` }))
    await open()
    expect(opened.at(-1)).toBe(1011)
    const isDamaged = expect.stringMatching(`^${id}: no snapshot of the document .* it is damaged$`)
    expect(told.splice(0)).toEqual([isDamaged, isDamaged])
    // A root that the log does not have, under a sum that fits.
    const { revision } = kept[0]!.state as unknown as { revision: number }
    replace((state) => {
      state.state.root = 'f'.repeat(64)
      return {
        ...state,
        sum: sha256(`${documentStream(id)}@${revision}\n${canonicalText(state.state)}\n${state.bytes}`),
      }
    })
    expect((snapshots.held.get(`${documentStream(id)}#replica 1`)![0]!.state as unknown as Kept).sum).not.toBe(sum)
    await open()
    expect(opened.at(-1)).toBe(1011)
    expect(told).toEqual([expect.stringContaining('differs from the recorded one')])
  })

  test('are one that is newest and some that stay, which grow with the document and not with its square', () => {
    let [last, staying] = [0, 0]
    for (let updates = 1000; updates <= 1_000_000; updates += 1000) {
      staying += stays(last, updates) ? updates : 0
      last = updates
    }
    expect(staying / 1_000_000).toBeLessThan(12)
    expect([stays(999, 1000), stays(1000, 1999), stays(1000, 2500), stays(80_000, 81_000)]).toEqual([
      ...[true, false, true, false],
    ])
  })
})

describe('the index of answered requests', () => {
  async function answered(count: number) {
    const { ports } = await world()
    const snapshots = new KeptSnapshots()
    const gateway = new DocumentGateway({ ...ports, snapshots })
    const id = await made(gateway, '<p>Hello</p>')
    // Refusals are the cheapest answers.
    const request = await requestFor(gateway, id, 'r', replaceFirst('<script>x</script>'))
    const other = request.ops_xml.replace('>x<', '>y<')
    const send = (of: DocumentGateway, n: number, ops_xml = request.ops_xml) =>
      of.envelope(id, { ...request, ops_xml, client_request_id: `r${n}` }, ANN)
    for (let n = 0; n < count; n++) await send(gateway, n)
    await gateway.close()
    const headers: number[] = []
    const { log } = ports
    const readLog = log.read.bind(log)
    /** Counts the headers that are read. */
    log.read = async function* (stream, options) {
      for await (const page of readLog(stream, options)) {
        if (options?.bodies === false) headers.push(page.length)
        yield page
      }
    }
    const open = () => {
      headers.length = 0
      return new DocumentGateway({ ...ports, snapshots })
    }
    const read = () => headers.reduce((sum, n) => sum + n, 0)
    const place = `${documentStream(id)}#answers 1`
    return { snapshots, open, read, send, other, place }
  }

  test('is kept in pieces, so that an opening reads few headers; a damaged or foreign piece is left aside', async () => {
    const { snapshots, open, read, send, other, place } = await answered(PIECE + 10)
    const again = async () => {
      const gateway = open()
      const reused = [await send(gateway, 3, other), await send(gateway, PIECE + 5, other)]
      await gateway.close()
      return reused.map(({ body }) => 'code' in body && body.code)
    }
    const [piece] = snapshots.held.get(place)!
    const both = ['AI_IDEMPOTENCY_KEY_REUSED', 'AI_IDEMPOTENCY_KEY_REUSED']
    expect([await again(), read() < 100]).toEqual([both, true])
    const state = piece!.state as { answers: [string, number][]; hash: string }
    snapshots.held.set(place, [{ ...piece!, state: { ...state, answers: state.answers.slice(1) } as never }])
    expect([await again(), read() > 2 * PIECE]).toEqual([both, true])
    // A piece whose sum fits, of a log with another event there.
    const { from, to } = state as never as { from: number; to: number }
    const hash = 'f'.repeat(64)
    const stream = place.split('#')[0]
    const sum = sha256(`${stream}@${from}-${to}\n${hash}\n[]`)
    snapshots.held.set(place, [{ ...piece!, state: { from, to, answers: [], hash, sum } as never }])
    expect([await again(), read() > 2 * PIECE]).toEqual([both, true])
    // A piece that does not begin where the one before it ends.
    const late = { from: 7, to, answers: state.answers.slice(3), hash: state.hash }
    const lateSum = sha256(`${stream}@7-${to}\n${late.hash}\n${JSON.stringify(late.answers)}`)
    snapshots.held.set(place, [{ ...piece!, state: { ...late, sum: lateSum } as never }])
    expect([await again(), read() > 2 * PIECE]).toEqual([both, true])
  })
})
