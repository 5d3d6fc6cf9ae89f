import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, z } from '../../../api/library/tool-kit.ts'
import { DELEGATING } from './delegating.ts'

/** A run whose agent gives the role of the coder to Claude Code, which calls a tool of keepup's. */
export const REACHING = {
  settings: DELEGATING.settings,
  scripts: {
    lead: {
      script: 1 as const,
      turns: [
        {
          calls: [{ tool: 'delegate_to_agent', arguments: { role: 'coder', task: 'Call it with {"text":"one"}.' } }],
        },
        { calls: [{ tool: 'complete_task', arguments: { summary: 'The lead is done.' } }] },
      ],
    },
  },
  start: (workspace: string) => {
    const { policy, ...start } = DELEGATING.start(workspace)
    const deniedTools = ['remember', 'recall', 'forget', 'list_documents', 'read_document']
    return { ...start, policy: { ...policy, deniedTools } }
  },
}

const notes = (workspace: string) => join(workspace, '..', 'notes')

/** Keeps a note in a file beside the workspace. `then`: what it does behind that. */
export const noteTool = (workspace: string, then: () => unknown) =>
  defineTool({
    name: 'notes:add',
    description: 'Keeps a note.',
    parameters: z.strictObject({ text: z.string() }),
    effect: 'irreversible',
    timeLimitMs: 10_000,
    async run({ text }) {
      appendFileSync(notes(workspace), `${text}\n`)
      then()
      return { content: `noted ${text}` }
    },
  })

/** How many notes were kept. */
export const noted = (workspace: string): number =>
  existsSync(notes(workspace)) ? readFileSync(notes(workspace), 'utf8').split('\n').length - 1 : 0
