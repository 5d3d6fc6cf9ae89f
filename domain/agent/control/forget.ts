import { z } from 'zod'
import { MEMORY_ID } from '../../memory/fact.ts'
import { controlTool } from './control-tool.ts'
import { placesOf } from './recall.ts'

const schema = z.strictObject({
  id: z.string().regex(MEMORY_ID, { error: 'expected the id of a fact, as remember and recall show it' }),
})

/** Deletes a fact, so that no agent finds it any more (seed 001). */
export const forget = controlTool({
  name: 'forget',
  description: 'Forgets a fact that is wrong or of no more use. No agent finds it any more.',
  schema,
  kind: 'continues',
  needsTools: true,
  examine: (state, _, { id }) => ({ memory: { kind: 'forget', id, places: placesOf(state) } }),
  decide: (_, __, ___, { memory }) => ({ events: [], end: { content: memory ?? null } }),
})
