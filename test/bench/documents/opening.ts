import { LoroDoc } from 'loro-crdt'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { type Figure, ms } from '../figure.ts'
import { median, timed } from '../measure.ts'
import { blockOf, GATEWAY } from './history.ts'

/** The cost until a span can be read, and until the replica is as it was before a discarded edit. */
export async function opening(
  history: number,
  snapshot: Uint8Array,
  updates: readonly Uint8Array[],
  rounds: number,
): Promise<Figure[]> {
  const at = `at ${history.toLocaleString('en-US')} edits`
  const took = {
    ours: [] as number[],
    bare: [] as number[],
    log: [] as number[],
    bareLog: [] as number[],
    discard: [] as number[],
  }
  for (let round = 0; round <= rounds; round++) {
    const open = async (stored: { snapshot?: Uint8Array; updates: readonly Uint8Array[] }) => {
      const document = await loroDocuments.open({ gatewayPeer: GATEWAY, ...stored })
      if (document.span(blockOf(7)).kind !== 'block') throw new Error('the document is not there')
      return document
    }
    let document = await loroDocuments.open({ gatewayPeer: GATEWAY, updates: [] })
    const ours = await timed(async () => {
      document = await open({ snapshot, updates: [] })
    })
    const bare = await timed(() => LoroDoc.fromSnapshot(snapshot).toJSON())
    const change = document.edit([{ kind: 'replace', spanId: blockOf(7), runs: [{ text: 'discarded', marks: {} }] }])
    const discard = await timed(() => {
      change.discard()
      document.span(blockOf(7))
    })
    document.close()
    took.ours.push(ours.ms)
    took.bare.push(bare.ms)
    took.discard.push(discard.ms)
    if (round > 0) continue
    const log = await timed(async () => (await open({ updates })).close())
    const bareLog = await timed(() => {
      const doc = new LoroDoc()
      doc.importBatch([...updates])
      doc.toJSON()
    })
    took.log.push(log.ms)
    took.bareLog.push(bareLog.ms)
  }
  const figure = (name: string, own: number, floor: number): Figure => ({
    name: `${name} ${at}`,
    ours: ms(own),
    floor: `${ms(floor)} bare Loro`,
    value: own / floor,
    goal: null,
  })
  const discarded = median(took.discard.slice(1))
  return [
    figure('cold open from a snapshot', median(took.ours.slice(1)), median(took.bare.slice(1))),
    figure('cold open from all updates', took.log[0]!, took.bareLog[0]!),
    { name: `discard of an edit ${at}`, ours: ms(discarded), floor: '', value: discarded, goal: null },
  ]
}
