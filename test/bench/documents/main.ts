import { parseArgs } from 'node:util'
import type { Figure } from '../figure.ts'
import { asJson, asTable } from '../table.ts'
import { blame } from './blame.ts'
import { blameOverHttp } from './blame-http.ts'
import { envelopes } from './envelopes.ts'
import { inTurn, wholeGateway } from './gateway.ts'
import { grow } from './history.ts'
import { opening } from './opening.ts'

// The gateway's checks and Loro replicas without a log, and the whole gateway with it, beside bare Loro in the same run.

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, output: { type: 'string', short: 'o', default: 'table' } },
})
const rounds = values.quick ? 3 : 5
const figures: Figure[] = []
for (const history of values.quick ? [100, 10_000] : [100, 100_000]) {
  const { doc, updates } = grow(history)
  const bytes = updates.reduce((sum, { length }) => sum + length, 0)
  const snapshot = doc.export({ mode: 'snapshot' })
  doc.free()
  figures.push(...(await envelopes(history, snapshot, rounds)))
  figures.push(...(await opening(history, snapshot, updates, rounds)))
  figures.push(...(await wholeGateway(history, snapshot, updates)))
  const value = snapshot.length / history
  const floor = `${Math.round(bytes / history)} B in updates`
  figures.push({
    name: `bytes per edit in a snapshot of ${history}`,
    ours: `${Math.round(value)} B`,
    floor,
    value,
    goal: null,
  })
}
for (const edits of values.quick ? [0, 300] : [0, 3_000]) figures.push(await blame(edits, rounds))
for (const edits of values.quick ? [0, 300] : [0, 3_000]) figures.push(await blameOverHttp(edits, rounds))
figures.push(...(await inTurn(values.quick ? 300 : 1_000)))
process.stdout.write(values.output === 'json' ? asJson(figures) : asTable(figures))
