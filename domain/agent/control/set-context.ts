import { z } from 'zod'
import { VARIABLE_NAME } from '../../tree/spec.ts'
import { controlTool, nonBlank } from './control-tool.ts'

const schema = z.strictObject({
  key: nonBlank.max(VARIABLE_NAME).describe('Name of the context variable.'),
  value: z.json().describe('Any JSON value.'),
})

export const setContext = controlTool({
  name: 'set_context',
  description: 'Keeps a named JSON value as working memory of this run.',
  schema,
  kind: 'continues',
  decide: (_, { argumentsRef }, { key }) => ({
    events: [{ type: 'context_set', body: { key, argumentsRef } }],
    end: { content: `"${key}" is set` },
  }),
})
