// @module-tag git
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { cliFolder, idIn, inProcess } from '../support/cli.ts'

// A run of several agents at the command line: who does what, who asks, and which agent an answer goes to.

const folder = cliFolder()
afterAll(() => folder.clean())

const finish = (summary: string) => ({ calls: [{ tool: 'complete_task', arguments: { summary } }] })
const delegate = (role: string, task: string) => ({ tool: 'delegate_to_agent', arguments: { role, task } })
const team = {
  script: 1,
  turns: [
    { text: 'Both.', calls: [delegate('researcher', 'look'), delegate('analyst', 'ask')] },
    finish('All is done.'),
  ],
  parts: [
    {
      name: 'researcher',
      when: { firstInputContains: 'look' },
      turns: [{ text: 'I look.', calls: [{ tool: 'search_code', arguments: { query: 'x' } }] }, finish('Seen.')],
    },
    {
      name: 'analyst',
      when: { firstInputContains: 'ask' },
      turns: [{ calls: [{ tool: 'ask_user', arguments: { question: 'Which?' } }] }, finish('Told.')],
    },
  ],
}

it('names the agent of each line, and takes a run for its only waiting call', async () => {
  const path = join(folder.workspace(), 'team.json')
  writeFileSync(path, JSON.stringify(team))
  const keepup = (...args: string[]) => inProcess(['--data', folder.data, '--by', 'ada', ...args])
  const options = ['--mode', 'batch', '--require-approval', 'search_code', '--model', `scripted:${path}`]
  const begun = await keepup('run', 'lead them', '-w', folder.workspace(), ...options)
  const run = idIn(begun.err)
  expect(begun.code).toBe(8)
  const lines = begun.err.split('\n')
  expect(lines).toContain('Both.')
  expect(lines.filter((line) => / {2}Researcher [a-z0-9]{4} │ I look\.$/.test(line))).toHaveLength(1)
  expect(lines.filter((line) => / {2}Analyst [a-z0-9]{4} │ turn 1$/.test(line))).toHaveLength(1)

  const [, analyst] = /input \w+ "…" --agent (\w+)/.exec(begun.err)!
  const answered = await keepup('input', run, 'this one', '--agent', analyst!)
  expect(answered.out).toMatch(new RegExp(`^recorded ${analyst} at revision \\d+$`, 'm'))

  const [, call] = /approve (\S+) --dry-run/.exec((await keepup('runs', 'show', run)).err)!
  const asked = await keepup('approve', call!)
  expect(asked.err).toContain('search_code asks for agent › Researcher: ')
  expect(asked.out).toMatch(/^approved (\w+)\.t1\.c0; recorded \1 at revision \d+$/m)

  const ended = await keepup('resume', run)
  expect(ended).toMatchObject({ code: 0, out: 'All is done.\n' })
  const last = ended.err.split('\n')
  // Born before this command began, and still known by their roles.
  expect(last.filter((line) => /│ DONE$/.test(line)).map((line) => line.trim().split(' ')[0])).toEqual(
    expect.arrayContaining(['Researcher', 'Analyst']),
  )
  expect(last.filter((line) => line === 'DONE')).toHaveLength(1)

  const refused = await keepup('cancel', analyst!)
  expect(refused).toMatchObject({ code: 2 })
  expect(refused.err).toContain(`"${analyst}" is an agent of the run ${run}; name the run`)
}, 60_000)
