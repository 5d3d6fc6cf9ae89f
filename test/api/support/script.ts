import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptInput } from '../../../adapters/models/scripted/script.ts'

/** A file that a waiting agent looks for in its workspace; see {@link SCRIPT}. */
export const SIGN = 'go.txt'

const done = (summary: string, more: { artifacts?: string[] } = {}) => ({
  calls: [{ tool: 'complete_task', arguments: { summary, ...more } }],
})
const look = { text: 'thinking… ', calls: [{ tool: 'list_dir', arguments: { path: '.' } }] }

/**
 * The model of the API's tests: a word of the task says what the agent does. `finish`: it is done at once, with the task
 * as its summary. `fail`: ERROR. `claim`: it names a file that is not there. `outage`: its model is overloaded for ever.
 * `write`: it asks to write a file, and tells what was decided. `ask`: it asks the person.
 * `both`: it asks to write two files at once. `command`: it runs a command,
 * `broken`: one that fails, `story`: it writes, runs, mends, reads and searches, `linger`: one that ignores
 * signal, `narrate`: one that writes a line, and another one after {@link SIGN}. `stall`: its model does not answer. `wait`: it looks for {@link SIGN} in its workspace, turn
 * after turn, and is done when it is there.
 */
export const SCRIPT: ScriptInput = {
  script: 1,
  model: 'test-script',
  turns: [{ text: 'I was not told what to do.' }],
  parts: [
    {
      name: 'finish',
      when: { firstInputContains: 'finish' },
      turns: [{ text: 'let me see', ...done(`\${firstInput}`) }],
    },
    {
      name: 'claim',
      when: { firstInputContains: 'claim' },
      turns: [done('claimed', { artifacts: ['nowhere.txt'] })],
    },
    {
      name: 'outage',
      when: { firstInputContains: 'outage' },
      turns: [{ fail: { code: 'OVERLOADED', times: 1_000 }, ...done('it is over') }],
    },
    { name: 'fail', when: { firstInputContains: 'fail' }, turns: [{ text: 'I give up.' }] },
    {
      name: 'write',
      when: { firstInputContains: 'write' },
      turns: [
        { calls: [{ tool: 'write_file', arguments: { path: 'hello.txt', content: 'hello\n' } }] },
        { when: { lastResultIsError: true }, ...done('write rejected') },
        done('write approved', { artifacts: ['hello.txt'] }),
      ],
    },
    {
      name: 'both',
      when: { firstInputContains: 'both' },
      turns: [
        {
          calls: [
            { tool: 'write_file', arguments: { path: 'one.txt', content: '1' } },
            { tool: 'read_file', arguments: { path: 'one.txt' } },
            { tool: 'write_file', arguments: { path: 'one.txt', content: '2' } },
          ],
        },
        done('both written'),
      ],
    },
    {
      name: 'ask at length',
      when: { firstInputContains: 'ask me at length' },
      turns: [
        {
          calls: [
            {
              tool: 'ask_user',
              arguments: { question: `${Array.from({ length: 120 }, (_, n) => `word ${n}`).join(' ')} and the end?` },
            },
          ],
        },
        done(`\${lastInput}`),
      ],
    },
    {
      name: 'ask',
      when: { firstInputContains: 'ask' },
      turns: [{ calls: [{ tool: 'ask_user', arguments: { question: 'Which?' } }] }, done(`\${lastInput}`)],
    },
    {
      name: 'command',
      when: { firstInputContains: 'command' },
      turns: [{ calls: [{ tool: 'run_command', arguments: { command: 'touch made.txt' } }] }, done('command settled')],
    },
    {
      name: 'broken',
      when: { firstInputContains: 'broken' },
      turns: [{ calls: [{ tool: 'run_command', arguments: { command: 'exit 3' } }] }, done('it is broken')],
    },
    {
      name: 'story',
      when: { firstInputContains: 'story' },
      turns: [
        {
          text: 'I look at **the tests** first.',
          calls: [
            { tool: 'write_file', arguments: { path: 'sum.ts', content: 'export const sum = (a: number) => a\n' } },
            { tool: 'run_command', arguments: { command: 'printf "\\033[32mok\\033[0m one\\n"; echo no >&2; exit 1' } },
          ],
        },
        {
          text: 'One fails, so I mend it.',
          calls: [
            {
              tool: 'write_file',
              arguments: { path: 'sum.ts', content: 'export const sum = (a: number, b: number) => a + b\n' },
            },
            { tool: 'read_file', arguments: { path: 'sum.ts' } },
            { tool: 'search_code', arguments: { query: 'sum' } },
          ],
        },
        done('mended'),
      ],
    },
    {
      name: 'linger',
      when: { firstInputContains: 'linger' },
      turns: [
        {
          calls: [
            {
              tool: 'run_command',
              arguments: { command: 'trap "" INT TERM; echo $$ > pid; echo linger"ing"; sleep 600' },
            },
          ],
        },
        done('it ended'),
      ],
    },
    {
      name: 'narrate',
      when: { firstInputContains: 'narrate' },
      turns: [
        {
          calls: [
            {
              tool: 'run_command',
              arguments: { command: `echo first line; until [ -e ${SIGN} ]; do sleep 0.05; done; echo last line` },
            },
          ],
        },
        done('narrated'),
      ],
    },
    { name: 'stall', when: { firstInputContains: 'stall' }, turns: [{ delayMs: 600_000, text: 'late' }] },
    {
      name: 'wait',
      when: { firstInputContains: 'wait' },
      turns: [
        look,
        { label: 'judge', when: { lastResultContains: SIGN }, ...done(`\${firstInput}`) },
        { ...look, delayMs: 200, goto: 'judge' },
      ],
    },
  ],
}

/** Writes the script into a folder; gives the model's id. */
export function writeScript(folder: string): string {
  const path = join(folder, 'script.json')
  writeFileSync(path, JSON.stringify(SCRIPT))
  return `scripted:${path}`
}

/** Workspaces of their own, because no two runs may work in one. */
export function workspaces(root: string): () => string {
  let made = 0
  return () => {
    const folder = join(root, `workspace-${++made}`)
    mkdirSync(folder)
    return folder
  }
}

/** Lets the agent that waits in a workspace be done. */
export const giveSign = (workspace: string): void => writeFileSync(join(workspace, SIGN), '')
