import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'

/** The answer that the model gives. `tool`: it reads the note in the workspace; `own`: it calls keepup's tool of notes. */
export type Reply = 'text' | 'tool' | 'own' | 'fail' | 'stall'

export interface Asked {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The body as it came. */
  readonly raw: string
}

/** Writes an answer as one provider's API does. */
export interface Wire {
  text(res: ServerResponse, asked: Asked, text: string): void
  /** Asks for the tool of the command line that reads a file. */
  tool(res: ServerResponse, asked: Asked, file: string): void
  /** Asks for a tool of this name. */
  call(res: ServerResponse, asked: Asked, name: string, args: object): void
}

/** The content of the note that the tool reads; its text in a request proves that the tool was run. */
export const NOTE = 'the note says 4711'
/** The result of keepup's tool, by which its call is seen to be over. */
export const NOTED = 'noted one'
export const ANSWER = 'stand-in answer'
export const REFUSAL = 'the stand-in refuses'

/** A word in the prompt says what the model replies. Of several, as in a session that goes on, the last one holds. */
export const prompt = (reply: Reply): string => `keepup-${reply} please`

/** A model's API on the loopback interface. */
export async function standIn(wire: Wire, note: string) {
  const got: Asked[] = []
  const stalled = Promise.withResolvers<void>()
  const server = createServer(async (req, res) => {
    const raw = await readText(req)
    const asked = { path: req.url ?? '', raw, body: raw.startsWith('{') ? JSON.parse(raw) : {} }
    got.push(asked)
    const reply = replyTo(raw)
    if (reply === 'stall') stalled.resolve()
    else if (reply === 'fail') refuse(res)
    else if (reply === 'tool' && !raw.includes(NOTE)) wire.tool(res, asked, note)
    else if (reply === 'own' && !raw.includes(NOTED)) wire.call(res, asked, ownTool(raw), { text: 'one' })
    else wire.text(res, asked, reply === null ? 'a title' : reply === 'tool' ? `${ANSWER}: ${NOTE}` : ANSWER)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    /** A request came that will not be answered. */
    stalled: stalled.promise,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Requests without tools are of the program's own: for a title, say. */
function replyTo(raw: string): Reply | null {
  if (!raw.includes('"tools"')) return null
  const all = [...raw.matchAll(/keepup-(text|tool|own|fail|stall) please/g)]
  return (all.at(-1)?.[1] as Reply | undefined) ?? null
}

/** The name under which the program offers its model the tool of notes. */
const ownTool = (raw: string): string => /"name":\s*"([^"]*notes__add)"/.exec(raw)?.[1] ?? 'notes__add'

function refuse(res: ServerResponse): void {
  res.writeHead(400, { 'content-type': 'application/json' })
  res.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', code: 400, message: REFUSAL } }))
}
