import { expect, test } from 'vitest'
import { Context } from '../../../api/cli/context.ts'
import { type Backend, OwnerError } from '../../../api/process/owner/backend.ts'
import { cliFolder } from '../support/cli.ts'

/** A context whose first owners go away before they answer; counts what it asked them. */
function withOwners(gone: number) {
  const folder = cliFolder()
  const stream = { write: () => true }
  const io = { program: 'keepup', env: folder.env, stdin: process.stdin, stdout: stream, stderr: stream } as never
  const asked: string[] = []
  class Moved extends Context {
    override async backend(): Promise<Backend> {
      return {
        kind: 'remote',
        fetch: async (request) => {
          asked.push(`${request.method} ${await request.text()}`)
          if (asked.length <= gone) throw new OwnerError('OWNER_GONE', 'the owner went away')
          return Response.json({ names: ['A'] })
        },
        drain: async () => undefined,
        close: async () => undefined,
      }
    }
  }
  return { ctx: new Moved(io, { data: folder.data } as never), asked, clean: () => folder.clean() }
}

test('a command that sets a value asks the next owner, one that may not be repeated does not', async ({
  onTestFinished,
}) => {
  const { ctx, asked, clean } = withOwners(2)
  onTestFinished(clean)
  const client = await ctx.client('write')
  const answer = await client.v1.secrets[':name'].$put({ param: { name: 'A' }, json: { value: 'v' } })
  expect([answer.status, asked]).toEqual([200, Array(3).fill('PUT {"value":"v"}')])
  const other = withOwners(1)
  onTestFinished(other.clean)
  const post = (await other.ctx.client('write')).v1.runs[':id'].pause.$post
  await expect(post({ param: { id: 'r' }, header: {}, json: { by: 'a' } } as never)).rejects.toThrow('went away')
  expect(other.asked).toHaveLength(1)
})
