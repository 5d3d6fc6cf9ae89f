import type { Tool } from '../../../domain/ports/index.ts'
import { call, calls, completes } from '../harness.ts'
import { tool } from '../story.ts'
import { tale } from './tale.ts'

// An agent that reads and edits documents: its results name their frontiers.

export async function documents() {
  const result = (name: string, frontiers: Record<string, string>): Tool => ({
    ...tool(name),
    run: async () => ({ content: { doc_id: 'd1' }, documents: frontiers }),
  })
  const tools = [result('read', { d1: '7:41' }), result('edit', { d1: '7:52', d2: '7:3|9:12' }), result('forget', {})]
  const says = [
    calls(call('read', {}, 'c1'), call('forget', {}, 'c2')),
    calls(call('edit', {}, 'c3')),
    calls(call('read', {}, 'c4')),
    completes(),
  ]
  const run = await tale({ says, tools })
  await run.drive()
  return run.log
}
