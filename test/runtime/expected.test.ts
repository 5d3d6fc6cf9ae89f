import { expect, test } from 'vitest'
import { completes, seededRandom, USER } from '../support/harness.ts'
import { given } from '../support/story.ts'

const say = (text: string) => ({ kind: 'input', text }) as const

test('a command for a revision is recorded there or refused with 412, whichever others write', async () => {
  const run = await given({ says: [completes()] })
  const { revision } = (await run.runtime.at(run.runId, null)).head
  const elsewhere = (seed: string) => run.elsewhere({ random: seededRandom(seed) })
  const processes = [run.runtime, run.runtime, elsewhere('a'), elsewhere('b')]
  const asked = processes.map((runtime, i) =>
    runtime.execute(run.runId, say(`number ${i}`), { by: USER, expected: revision }),
  )
  const answers = await Promise.allSettled(asked)
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const answer of answers) {
    if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'REVISION_CHANGED' })
  }
  expect(await run.of('user_input')).toHaveLength(2)
})

test('the same request again is found, though the agent has moved on since', async () => {
  const run = await given({ says: [completes()] })
  const ask = () => run.runtime.execute(run.runId, say('hi'), { by: USER, key: 'k', expected: 1 })
  expect(await ask()).toMatchObject({ revision: 2, recorded: true })
  expect(await ask()).toMatchObject({ revision: 2, recorded: false })
  expect(await run.of('user_input')).toHaveLength(2)
})
