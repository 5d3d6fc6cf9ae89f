import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '../../support/browser/served.ts'
import { Person } from '../../support/documents/person.ts'
import { type Figure, most, ms } from '../figure.ts'
import { median, timed } from '../measure.ts'
import { sentence } from './history.ts'

const PARAGRAPHS = 5_000

/** Blame of a long document over HTTP, and the opening of the document over HTTP as the floor, in turn. */
export async function blameOverHttp(edits: number, rounds: number): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'keepup-bench-blame-'))
  const data = join(folder, 'data')
  const served = await serve({ data })
  try {
    const authorization = `Bearer ${readFileSync(join(data, 'token'), 'utf8').trim()}`
    const request = async (path: string, init: RequestInit = {}): Promise<ArrayBuffer> => {
      const answer = await fetch(`${served.url}${path}`, { ...init, headers: { ...init.headers, authorization } })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.arrayBuffer()
    }
    const content = Array.from({ length: PARAGRAPHS }, () => sentence(0)).join('\n\n')
    const made = await served.ask<{ documentId: string }>('POST', '/v1/documents', {
      ...{ title: 'Plan', by: 'ann', format: 'markdown', content },
    })
    const path = `/v1/documents/${made.documentId}`
    const bob = new Person('77', new Uint8Array(await request(`${path}?format=loro`)))
    for (let n = 0; n < edits; n++) {
      const text = bob.text(n % PARAGRAPHS)
      const update = bob.change(() => text.insert((n * 7) % text.length, 'edit'))
      await request(`${path}/updates?by=bob`, { method: 'POST', body: new Uint8Array(update) })
    }
    const took: { ours: number; floor: number }[] = []
    for (let round = 0; round <= rounds; round++) {
      const floor = await timed(() => request(path))
      const ours = await timed(() => request(`${path}/blame`))
      // The first round compiles.
      if (round > 0) took.push({ ours: ours.ms, floor: floor.ms })
    }
    const [own, floor] = [median(took.map((one) => one.ours)), median(took.map((one) => one.floor))]
    const ratio = median(took.map((one) => one.ours / one.floor))
    const name = `blame of ${PARAGRAPHS} paragraphs after ${edits} edits over HTTP`
    return {
      ...{ name, ours: ms(own), floor: `${ms(floor)} opening over HTTP, ratio ${ratio.toFixed(2)}` },
      ...{ value: own, goal: most(1_000, ' ms') },
    }
  } finally {
    await served.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
