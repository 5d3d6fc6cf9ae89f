import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

// A fake `claude` that calls each function it may call, with the arguments in its prompt, and prints the answers. It is
// started like the real one: prompt on stdin, `--mcp-config` and `--allowedTools` among its arguments.

const args = process.argv.slice(2)
const say = (value: object) => console.log(JSON.stringify(value))
const after = (flag: string) => {
  const rest = args.slice(args.indexOf(flag) + 1)
  const end = rest.findIndex((one) => one.startsWith('--'))
  return args.includes(flag) ? rest.slice(0, end === -1 ? rest.length : end) : []
}

const prompt = await text(process.stdin)
const { mcpServers } = JSON.parse(readFileSync(after('--mcp-config')[0]!, 'utf8'))
say({ type: 'system', subtype: 'init', session_id: 's-2', model: 'm1' })
const said: string[] = []
for (const [name, { url, headers }] of Object.entries<{ url: string; headers: Record<string, string> }>(mcpServers)) {
  const client = new Client({ name: 'claude', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  for (const tool of after('--allowedTools')) {
    const input = JSON.parse(/\{.*\}/.exec(prompt)![0])
    say({ type: 'assistant', message: { content: [{ type: 'tool_use', id: tool, name: tool, input }] } })
    const { content } = await client.callTool({ name: tool.slice(`mcp__${name}__`.length), arguments: input })
    const [{ text: answer } = { text: '' }] = content as { text: string }[]
    say({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: tool, content: answer }] } })
    said.push(`${tool}=${answer}`)
  }
  await client.close()
}
say({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: said.join(),
  session_id: 's-2',
  num_turns: 2,
  usage: {},
})
