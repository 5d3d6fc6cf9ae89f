import { z } from 'zod'
import { controlTool, nonBlank } from './control-tool.ts'

const schema = z.strictObject({
  question: nonBlank.describe('One clear question. The run waits for the answer.'),
})

/** The agent waits for input after the turn has ended. */
export const askUser = controlTool({
  name: 'ask_user',
  description: 'Puts a question to the user and waits for the answer.',
  schema,
  kind: 'waits',
  decide: () => ({
    events: [],
    end: { content: 'The question was put to the user. The answer comes as the next user message.' },
  }),
})
