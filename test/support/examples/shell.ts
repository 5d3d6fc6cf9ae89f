import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { inProcess } from '../../api/support/cli.ts'

/** A command that a shell handed over. */
export interface Command {
  readonly name: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The exported variables whose names begin with KEEPUP_, and HOME. */
  readonly env: Record<string, string>
}

interface Answer {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A command of a block that did not end with 0. */
export interface Failure {
  readonly code: number
  readonly command: string
  readonly err: string
}

/** The commands that the test plays. bash runs all others. */
const HANDED = ['keepup', 'npm', 'npx', 'docker']

// A shell function hands its arguments over a connection of bash, and prints the answer from files: no process starts.
const prelude = (port: number): string => `
hand_over() {
  exec 9<>/dev/tcp/127.0.0.1/${port}
  { printf '%s\\0' "$1" "$PWD" "$HOME"; for name in \${!KEEPUP_@}; do printf '%s=%s\\0' "$name" "\${!name}"; done
    printf '\\0'; shift; printf '%s\\0' "$@"; printf '\\1\\0'; } >&9
  local code out err
  read -r code out err <&9
  exec 9<&-
  cat "$out"; cat "$err" >&2
  return "$code"
}
${HANDED.map((name) => `${name}() { hand_over ${name} "$@"; }`).join('\n')}
# A stream does not end: two seconds of it are enough.
curl() {
  case " $* " in
    *' -N '*) command curl -sS --fail-with-body --max-time 2 "$@" || [ $? -eq 28 ] ;;
    *) command curl -sS --fail-with-body "$@" ;;
  esac
}
`

function parsed(text: string): Command {
  const [name = '', cwd = '', HOME = '', ...rest] = text.split('\0')
  const end = rest.indexOf('')
  const env = Object.fromEntries(
    rest.slice(0, end).map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]),
  )
  return { name, cwd, env: { HOME, ...env }, args: rest.slice(end + 1, -2) }
}

/**
 * Runs blocks in bash. `keepup` runs in this process, because starting a process for each line takes most of the time; `play` may
 * answer a command instead.
 */
export async function openShell(folder: string, play: (command: Command) => Promise<Answer | Command>) {
  let files = 0
  let failures: Failure[] = []
  const answered = async (socket: Socket, text: string): Promise<void> => {
    const command = parsed(text)
    const played = await play(command)
    const { name, args, cwd, env } = 'code' in played ? command : played
    const answer = 'code' in played ? played : await inProcess(args, env, { cwd })
    const [out, err] = ['out', 'err'].map((kind) => join(folder, `.${++files}.${kind}`))
    writeFileSync(out!, answer.out)
    writeFileSync(err!, answer.err)
    if (answer.code !== 0)
      failures.push({ code: answer.code, command: [name, ...command.args].join(' '), err: answer.err + answer.out })
    socket.end(`${answer.code} ${out} ${err}\n`)
  }
  const server = createServer((socket) => {
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.endsWith('\u0001\0')) void answered(socket, text)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    /** Runs a block. Returns its output, and its commands that failed in their order. */
    async run(block: string, cwd: string, env: Record<string, string>) {
      failures = []
      const file = join(folder, '.block.sh')
      const trap = `trap 'code=$?; case $BASH_COMMAND in keepup*|return*) ;; *) echo "FAILED $code $BASH_COMMAND" >&2 ;; esac' ERR`
      writeFileSync(file, `${prelude(port)}${trap}\n${block}\n`)
      const child = spawn('bash', [file], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
      let [out, err] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        out += chunk
      })
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        err += chunk
      })
      await once(child, 'close')
      const others = [...err.matchAll(/^FAILED (\d+) (.*)$/gm)].map(([, code, command]) => ({
        ...{ code: Number(code), command: command! },
        err,
      }))
      return { out, err, failures: [...failures, ...others] }
    },
    close: () => void server.close(),
  }
}
