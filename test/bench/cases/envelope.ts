import type { Bench, Case } from '../bench.ts'
import { wholeGateway } from '../documents/gateway.ts'
import { grow } from '../documents/history.ts'

// An envelope in a document of few edits, whole and with its log; `npm run bench:documents` looks closer.

const EDITS = 100

export const envelope: Case = {
  name: 'envelope',
  async run(_: Bench) {
    const { doc, updates } = grow(EDITS)
    const snapshot = doc.export({ mode: 'snapshot' })
    doc.free()
    const figures = await wholeGateway(EDITS, snapshot, updates)
    // The rest has goals in long documents only.
    return figures.filter(({ name }) => /^(?:CPU of an envelope|stored bytes)/.test(name))
  },
}
