import { MemoryLog } from '../../../adapters/memory/log.ts'
import { Person } from '../../support/documents/person.ts'
import { ANN, BOB, DocumentGateway, portsOver } from '../../support/documents/runtime.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { type Figure, ms } from '../figure.ts'
import { median, timed } from '../measure.ts'
import { sentence } from './history.ts'

const PARAGRAPHS = 5_000

/** The writers of all words of a long document, and the opening of the same revision as the floor, in turn. */
export async function blame(edits: number, rounds: number): Promise<Figure> {
  const gateway = new DocumentGateway(portsOver(new MemoryLog({ clock: BEFORE })))
  const paragraph = { type: 'paragraph', attrs: {}, text: [{ text: sentence(0), marks: {} }] } as const
  const blocks = Array.from({ length: PARAGRAPHS }, () => paragraph)
  const { documentId } = await gateway.create({ title: 'Plan', source: 'html', blocks }, ANN)
  const bob = new Person('77', (await gateway.snapshot(documentId)).bytes)
  for (let n = 0; n < edits; n++) {
    const text = bob.text(n % PARAGRAPHS)
    await gateway.import(
      documentId,
      bob.change(() => text.insert((n * 7) % text.length, 'edit')),
      BOB,
    )
  }
  const head = Number.MAX_SAFE_INTEGER
  const took: { ours: number; floor: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    const floor = await timed(() => gateway.history.at(documentId, head))
    const ours = await timed(() => gateway.history.blame(documentId, head))
    // The first round compiles.
    if (round > 0) took.push({ ours: ours.ms, floor: floor.ms })
  }
  await gateway.close()
  const [own, floor] = [median(took.map((one) => one.ours)), median(took.map((one) => one.floor))]
  const name = `blame of ${PARAGRAPHS} paragraphs after ${edits} edits`
  return { name, ours: ms(own), floor: `${ms(floor)} opening`, value: own / floor, goal: null }
}
