import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { NoticeReader } from '../../api/process/webhooks/notice-reader.ts'
import { NOTICE_TYPES } from '../../domain/stream/notice.ts'
import { recorded } from '../support/golden/files.ts'
import { appendAgain } from '../support/golden/recording.ts'
import { MemoryBlobs } from '../support/harness.ts'
import { BEFORE, collect } from '../support/log/sealing.ts'

const page = 'https://keepup.example'
const hide = async (text: string) => text

/** The notices of a recorded history. `restarts`: with a new reader for each event, as after a crash. */
async function noticesOf(text: string, restarts = false) {
  const [log, blobs] = [new MemoryLog({ clock: BEFORE }), new MemoryBlobs()]
  await appendAgain(text, log, blobs)
  const made = () => new NoticeReader({ log, blobs, page, hide })
  let reader = made()
  const found = []
  for (const event of await collect(log.readAll(null))) {
    if (restarts) reader = made()
    const notice = await reader.of(event)
    if (notice !== null) found.push(notice)
  }
  return found
}

test('every recorded history gives its notices, after a restart at any event the same', async () => {
  const types = new Set<string>()
  for (const { name, number, text } of recorded()) {
    const notices = await noticesOf(text)
    expect(await noticesOf(text, true), `${name}.${number}`).toEqual(notices)
    expect(new Set(notices.map(({ id }) => id)).size).toBe(notices.length)
    for (const { type, title, text: task, link } of notices) {
      types.add(type)
      expect(title.length).toBeLessThan(200)
      expect(`${title}${task}`).not.toMatch(/[\n\r]/)
      expect(link.startsWith(`${page}/runs/`)).toBe(true)
    }
  }
  // No recorded run comes near the end of its budget without its warning, and parking is no event.
  expect([...types, 'budget_low', 'stream_parked'].sort()).toEqual([...NOTICE_TYPES].sort())
})
