import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, z } from '../../../api/library/tool-kit.ts'
import { DELEGATING } from './delegating.ts'

/** A run whose agent delegates to Claude Code as the coder, which calls a keepup tool. */
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

/** A tool that writes a note to a file outside the workspace. `then`: called after the write. */
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

/** The number of notes. */
export const noted = (workspace: string): number =>
  existsSync(notes(workspace)) ? readFileSync(notes(workspace), 'utf8').split('\n').length - 1 : 0
