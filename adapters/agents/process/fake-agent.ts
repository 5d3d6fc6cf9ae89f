import { spawn } from 'node:child_process'
import { closeSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Step } from './fake-steps.ts'

// A fake agent that plays the steps of a file. The kit (kit.ts) makes recorded and hostile runs with it. Usage:
// fake-agent.ts <steps.json> <arguments of the real agent>.

/** Waits when the pipe is full, as real programs do. */
const write = (bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => process.stdout.write(bytes, () => resolve()))

async function play(step: Step): Promise<void> {
  switch (step.do) {
    case 'print':
      for (let times = step.times ?? 1; times > 0; times--) await write(Buffer.from(`${step.text}\n`))
      return
    case 'bytes': {
      const bytes = Buffer.from(step.base64, 'base64')
      for (let at = 0; at < bytes.length; at += step.piece) {
        await write(bytes.subarray(at, at + step.piece))
        await new Promise(setImmediate)
      }
      return
    }
    case 'long-line': {
      const piece = Buffer.alloc(64 * 1024, 'x')
      for (let left = step.bytes; left > 0; left -= piece.length) await write(piece)
      return step.ended ? write(Buffer.from('\n')) : undefined
    }
    case 'ignore-signals':
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
      return
    case 'grandchild': {
      // The process leaves the group and the session, ignores SIGTERM, and keeps stdout open.
      const script = `trap '' TERM INT HUP; echo $$ > '${step.pidFile}'; while :; do sleep 1000; done`
      spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] }).unref()
      while (!text(step.pidFile).endsWith('\n')) await new Promise((resolve) => setTimeout(resolve, 1))
      return
    }
    case 'record': {
      const chunks: Buffer[] = []
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
      const seen = {
        args: process.argv.slice(3),
        env: process.env,
        cwd: process.cwd(),
        stdin: Buffer.concat(chunks).toString(),
      }
      writeFileSync(step.file, JSON.stringify(seen))
      return
    }
    case 'close-output':
      closeSync(1)
      return
    case 'wait':
      return new Promise((resolve) => setTimeout(resolve, step.ms))
    case 'await-file':
      while (!existsSync(step.file)) await new Promise((resolve) => setTimeout(resolve, 1))
      return
    case 'hang':
      return new Promise(() => setInterval(() => undefined, 1_000_000))
    case 'exit':
      return process.exit(step.code)
    case 'die':
      process.kill(process.pid, step.signal)
      return new Promise(() => setInterval(() => undefined, 1_000_000))
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

for (const step of JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Step[]) await play(step)
