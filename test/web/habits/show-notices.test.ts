import { afterEach, expect, it, vi } from 'vitest'
import type { AskRow } from '../../../api/operations/read-model.ts'
import { showNotices } from '../../../api/web/page/show-notices.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

const asks = (n: number) =>
  Array.from(
    { length: n },
    (_, i) => ({ runId: `r${i}`, agentId: `r${i}`, for: 'approval', toolCallId: `c${i}` }) as AskRow,
  )

const go = () => undefined

function notices(fails?: Error): string[] {
  const made: string[] = []
  class Shown {
    constructor(title: string, { body }: { body: string }) {
      if (fails !== undefined) throw fails
      made.push(`${title}: ${body}`)
    }
  }
  vi.stubGlobal('Notification', Shown)
  return made
}

it('each new question has a notice, and more than three have one with their number', () => {
  const made = notices()
  expect(showNotices(asks(3), ({ runId }) => `task of ${runId}`, go)).toBe('')
  expect(made).toEqual([0, 1, 2].map((i) => `keepup: an approval waits for you: task of r${i}`))
  made.length = 0
  expect(showNotices(asks(40), () => 'task', go)).toBe('')
  expect(made).toEqual(['keepup: 40 new questions wait for you: '])
})

it('a browser whose pages cannot make notices is said to show none', () => {
  notices(new TypeError('Illegal constructor'))
  expect(showNotices(asks(1), () => 'task', go)).toBe('this browser cannot show them: Illegal constructor')
})
