import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validate } from '@langchain/langgraph-checkpoint-validation'
import { openKeepUp } from '../../api/index.ts'
import { KeepUpSaver } from '../../api/library/langgraph.ts'

// The official validation suite of LangGraph for checkpointers. It brings its own version of Vitest.

const ended = new Map<KeepUpSaver, () => Promise<void>>()

validate({
  checkpointerName: '@keepup/runtime/langgraph',
  async createCheckpointer() {
    const data = await mkdtemp(join(tmpdir(), 'keepup-langgraph-'))
    const keepup = await openKeepUp({ data })
    const saver = new KeepUpSaver(keepup)
    ended.set(saver, async () => {
      await keepup.close()
      await rm(data, { recursive: true })
    })
    return saver
  },
  async destroyCheckpointer(saver) {
    await ended.get(saver as KeepUpSaver)?.()
    ended.delete(saver as KeepUpSaver)
  },
})
