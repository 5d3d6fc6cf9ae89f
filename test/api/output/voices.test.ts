import { expect, it } from 'vitest'
import { Voices } from '../../../api/cli/output/agent-headings.ts'

const told = () => {
  const shown: string[] = []
  const voices = new Voices(
    'root',
    (text) => shown.push(text),
    (_, text) => text,
  )
  voices.meet({ agentId: 'root', depth: 0, role: 'Architect' })
  voices.meet({ agentId: 'aaaa1', depth: 1, role: 'Coder' })
  voices.meet({ agentId: 'bbbb2', depth: 2, role: 'Coder' })
  return { voices, shown: () => shown.join('') }
}

it('names the agent of each line below the root, and shows the words of the root as they come', () => {
  const { voices, shown } = told()
  voices.line('root', 'turn 1')
  voices.text('root', 'I ')
  voices.text('root', 'begin')
  voices.line('aaaa1', 'turn 1')
  voices.line('bbbb2', 'DONE')
  voices.line('root', 'turn 2')
  expect(shown()).toBe('turn 1\nI begin\n  Coder aaaa │ turn 1\n    Coder bbbb │ DONE\nturn 2\n')
})

it('keeps the words of agents that speak at once apart, and loses none', () => {
  const { voices, shown } = told()
  for (const n of [1, 2, 3]) {
    voices.text('aaaa1', `a${n} `)
    voices.text('bbbb2', n === 2 ? `b${n}\n` : `b${n} `)
  }
  voices.line('aaaa1', 'read_file')
  voices.end()
  expect(shown()).toBe(
    '    Coder bbbb │ b1 b2\n  Coder aaaa │ a1 a2 a3 \n  Coder aaaa │ read_file\n    Coder bbbb │ b3 \n',
  )
})

it('shows what an agent does of which nothing is known but its id', () => {
  const { voices, shown } = told()
  voices.line('cccc3', 'DONE')
  expect(shown()).toBe('  agent cccc │ DONE\n')
})
