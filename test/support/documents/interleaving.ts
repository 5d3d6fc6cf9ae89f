import fc from 'fast-check'
import { blockText } from '../../../domain/document/model/block.ts'
import { contextHash } from '../../../domain/document/model/context-hash.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { MemoryBlobs, seededRandom } from '../harness.ts'
import { Person } from './person.ts'
import { ANN, BOB, DocumentGateway, made, portsOver } from './runtime.ts'

// Plans of edits by agents and people over two gateways on one log. Each gateway is a process with its own replica.

type Edit =
  | { readonly kind: 'replace' | 'insert' | 'delete'; readonly block: number; readonly text: string }
  | { readonly kind: 'refused' }
export type Step =
  | { readonly who: 'model'; readonly at: 0 | 1; readonly edit: Edit; readonly stale: boolean }
  | {
      readonly who: 'person'
      readonly at: 0 | 1
      readonly block: number
      readonly text: string
      readonly syncs: boolean
    }

const at = fc.constantFrom(0 as const, 1 as const)
const block = fc.nat(5)
const text = fc.constantFrom('a', 'bc d', '<b>e</b> f', '<i>é</i>', '😀')
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constantFrom('replace' as const, 'insert' as const, 'delete' as const), block, text }),
  fc.record({ kind: fc.constant('refused' as const) }),
)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ who: fc.constant('model' as const), at, edit, stale: fc.boolean() }),
  fc.record({
    who: fc.constant('person' as const),
    at,
    block,
    text: fc.constantFrom('x', 'yz', '漢'),
    syncs: fc.boolean(),
  }),
)
export const interleaving = fc.array(step, { minLength: 3, maxLength: 14 })

/** A document after a plan, and the answer to each request. */
export interface Outcome {
  readonly answers: readonly number[]
  readonly revision: number
  readonly frontier: string
  readonly root: string
  readonly blocks: unknown
  /** The document as seen by the other process, a new process, and each person's replica. All must be equal. */
  readonly seen: readonly unknown[]
  readonly verified: unknown
}

/** Plays a plan over a log. Calls `after` after each step. Equal logs of any kind give equal outcomes. */
export async function play(
  log: EventLog,
  steps: readonly Step[],
  { blobs = new MemoryBlobs(), after = async (_: number) => {} } = {},
): Promise<Outcome> {
  const ports = portsOver(log, { random: seededRandom('interleaving'), blobs })
  const gateways = [new DocumentGateway(ports), new DocumentGateway(ports)] as const
  const id = await made(gateways[0], '<p>one</p><p>two</p><h1>three</h1>')
  const person = new Person('77', (await gateways[0].snapshot(id)).bytes)
  let known = await gateways[0].read(id)
  const answers: number[] = []
  for (const [n, one] of steps.entries()) {
    const gateway = gateways[one.at]
    if (one.who === 'model') {
      if (!one.stale) known = await gateway.read(id)
      answers.push((await gateway.envelope(id, request(known, one.edit, `r${n}`), ANN)).status)
    } else {
      if (one.syncs) person.doc.import((await gateway.snapshot(id)).bytes)
      const update = person.change(() => write(person, one.block, one.text))
      await gateway.import(id, update, BOB)
    }
    await after(n)
  }
  person.doc.import((await gateways[0].snapshot(id)).bytes)
  const fresh = new DocumentGateway(portsOver(log, { blobs: ports.blobs }))
  const [found, ...others] = await Promise.all([gateways[0], gateways[1], fresh].map((one) => one.read(id)))
  const { revision, frontier, root, blocks } = found!
  const { ok, problems, ...verified } = await fresh.history.verify(id)
  const mirror = new Person('78', (await gateways[1].snapshot(id)).bytes)
  await Promise.all([...gateways, fresh].map((one) => one.close()))
  return {
    ...{ answers, revision, frontier, root, blocks },
    seen: [...others.map((other) => other.blocks), person.doc.toJSON(), mirror.doc.toJSON()],
    verified: { ok, problems, frontier: verified.frontier, root: verified.root },
  }
}

function request({ blocks, frontier }: Awaited<ReturnType<DocumentGateway['read']>>, edit: Edit, id: string) {
  const one = blocks[edit.kind === 'refused' ? 0 : edit.block % Math.max(1, blocks.length)]
  const span = one?.id ?? 'none'
  const precondition = {
    span_id: span,
    if_match_context_hash: one === undefined ? '' : contextHash(span, blockText(one as never)),
  }
  const ops = {
    replace: (text: string) => `<replace_spans><span span_id="${span}">${text}</span></replace_spans>`,
    insert: (text: string) => `<insert_blocks after="${span}"><p>${text}</p></insert_blocks>`,
    delete: () => `<delete_blocks><span span_id="${span}"/></delete_blocks>`,
  }
  const ops_xml = edit.kind === 'refused' ? ops.replace('<script>x</script>') : ops[edit.kind](edit.text)
  return { doc_frontier: frontier, client_request_id: id, ops_xml, preconditions: [precondition] }
}

function write(person: Person, at: number, text: string): void {
  const { length } = person.blocks
  if (length > 0) person.text(at % length).insert(0, text)
  else person.doc.getMap('notes').set('x', text)
}
