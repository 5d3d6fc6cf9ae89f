import { spawn } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** A file's content, independent of its names. */
export type FileId = number

/**
 * A change that a program made below a folder, in the order of time. `begun` and `ended` order the start and the end of
 * the system call: a sync covers only writes that ended before it began.
 */
export type Change = { readonly begun: number; readonly ended: number } & (
  | { readonly kind: 'write'; readonly file: FileId; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: FileId; readonly size: number }
  /** Null: a folder was synced. */
  | { readonly kind: 'sync'; readonly file: FileId | null }
  | { readonly kind: 'link'; readonly path: string; readonly file: FileId }
  | { readonly kind: 'make-folder' | 'remove'; readonly path: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /** A line of stdout. */
  | { readonly kind: 'said'; readonly line: string }
)

/** Files and folders: the id of a file, or null for a folder, by absolute path. */
export type Names = Map<string, FileId | null>

export interface RecordedCall {
  readonly call: string
  readonly path: string
  readonly thread: string
  /** The number of calls with this name that the thread had made, also of failed ones and on other files. From 1. */
  readonly nth: number
  /** The number of earlier changes of files. Calls with the same number leave the same files if the process ends there. */
  readonly earlier: number
  /** The size of the file after half of a write. Null: the call does not write. */
  readonly half: number | null
}

export interface Recording {
  readonly changes: readonly Change[]
  /** What the folder contained before the program started. */
  readonly before: { readonly names: Names; readonly contents: Map<FileId, Buffer> }
  /** The calls behind the changes, with the path of their file at that time. */
  readonly calls: readonly RecordedCall[]
  readonly code: number | null
  readonly stderr: string
}

const CALLS = [
  ...['openat', 'close', 'write', 'writev', 'pwrite64', 'pwritev', 'fsync', 'fdatasync', 'ftruncate', 'truncate'],
  ...['unlink', 'unlinkat', 'rename', 'renameat', 'renameat2', 'mkdir', 'mkdirat', 'rmdir', 'link', 'linkat'],
  ...['symlink', 'symlinkat', 'copy_file_range', 'sendfile', 'fallocate', 'clone', 'clone3', 'fork', 'vfork'],
]

/** Calls that a recording cannot represent. A recording with one of them below the folder is refused. */
const UNKNOWN = new Set(['writev', 'pwritev', 'sendfile', 'fallocate'])
const STARTS = /^(clone3?|v?fork)\(/

/** Applies a change of names. */
export function rename(names: Names, from: string, to: string): void {
  const moved = [...names].filter(([path]) => path === from || path.startsWith(`${from}/`))
  for (const [path] of moved) names.delete(path)
  for (const [path, file] of moved) names.set(`${to}${path.slice(from.length)}`, file)
}

/** Everything below a folder. */
function read(root: string): Recording['before'] {
  const names: Names = new Map()
  const contents = new Map<FileId, Buffer>()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) names.set(path, null)
    else if (lstatSync(path).isFile()) {
      const id = contents.size
      names.set(path, id)
      contents.set(id, readFileSync(path))
    }
  }
  return { names, contents }
}

/**
 * Runs a program under strace, and records what it does below `root` and what it prints. Rejects if strace cannot start
 * it, if it makes a call below `root` that a recording cannot represent, and if the recorded changes do not give the files
 * that are there at the end.
 */
export async function record(
  root: string,
  command: readonly string[],
  options: { env: Readonly<Record<string, string>>; cwd: string },
): Promise<Recording> {
  const before = read(root)
  const folder = mkdtempSync(join(tmpdir(), 'keepup-strace-'))
  const out = join(folder, 'trace')
  try {
    const how = ['-f', '-qq', '-y', '-xx', '-s', '100000000', '-e', 'signal=none', '-e', `trace=${CALLS.join()}`]
    const child = spawn('strace', [...how, '-o', out, ...command], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stdout.resume()
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const code = await new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done))
    const trace = new Trace(root, before)
    const recorded = trace.read(readFileSync(out, 'latin1'))
    trace.mustMatch(read(root))
    return { ...recorded, before, code, stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const bytesOf = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex')
const textOf = (text: string): string => (text.startsWith('\\x') ? bytesOf(text).toString() : text)

interface Call {
  readonly thread: string
  readonly name: string
  readonly args: string
  readonly result: string
  readonly begun: number
  readonly ended: number
  readonly nth: number
}

/** The successful calls of a trace, in the order of their ends. */
function* callsIn(trace: string): Generator<Call> {
  const open = new Map<string, { text: string; begun: number }>()
  const seen = new Set<string>()
  const counts = new Map<string, number>()
  let line = 0
  for (const text of trace.split('\n')) {
    line++
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/s.exec(text) ?? []
    if (!seen.has(thread)) {
      seen.add(thread)
      // A new thread can appear before the call that starts it returns.
      const starter = [...open].findLast(([, call]) => STARTS.test(call.text))
      if (starter !== undefined) yield startOf(starter[0], starter[1].text, thread, line)
    }
    if (rest.endsWith(' <unfinished ...>')) {
      open.set(thread, { text: rest.slice(0, -' <unfinished ...>'.length), begun: line })
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(rest)
    const first = resumed === null ? undefined : open.get(thread)
    const whole = first === undefined ? rest : `${first.text}${rest.slice(resumed![0].length)}`
    const [, name, args, result] = /^(\w+)\((.*)\) += ([^=]*)$/s.exec(whole) ?? []
    if (name === undefined) continue
    const nth = (counts.get(`${thread} ${name}`) ?? 0) + 1
    counts.set(`${thread} ${name}`, nth)
    if (result!.startsWith('-1') || result!.startsWith('?')) continue
    if (STARTS.test(whole)) seen.add(result!.trim())
    yield { thread, name, args: args!, result: result!, begun: first?.begun ?? line, ended: line, nth }
  }
}

const startOf = (thread: string, text: string, started: string, line: number): Call => {
  const [, name = '', args = ''] = /^(\w+)\((.*)$/s.exec(text) ?? []
  return { thread, name, args, result: started, begun: line, ended: line, nth: 0 }
}

/** An open descriptor: its path, the offset of the next write, and whether it appends. */
interface Descriptor {
  readonly path: string
  readonly file: FileId | null | undefined
  at: number
  readonly append: boolean
}
type Descriptors = Map<number, Descriptor>

/** Turns a trace into changes. */
class Trace {
  readonly #root: string
  readonly #names: Names
  /** The size of each file now. */
  readonly #sizes = new Map<FileId, number>()
  /** Contents, for copies of ranges. */
  readonly #contents = new Map<FileId, Buffer>()
  /** The descriptors of each thread's process. */
  readonly #processes = new Map<string, Descriptors>()
  #open: Descriptors = new Map()
  /** The descriptors of the recorded program itself. */
  #first: Descriptors | undefined
  readonly #changes: Change[] = []
  #files: number
  #partial = ''

  constructor(root: string, before: Recording['before']) {
    this.#root = root
    this.#names = new Map(before.names)
    for (const [file, bytes] of before.contents) {
      this.#sizes.set(file, bytes.length)
      this.#contents.set(file, Buffer.from(bytes))
    }
    this.#files = before.contents.size
  }

  read(trace: string): Pick<Recording, 'changes' | 'calls'> {
    const calls: Recording['calls'][number][] = []
    let earlier = 0
    for (const call of callsIn(trace)) {
      this.#open = this.#descriptorsOf(call.thread)
      this.#first ??= this.#open
      const before = this.#changes.length
      this.#take(call)
      const made = this.#changes.slice(before).filter(({ kind }) => kind !== 'said')
      if (made.length > 0 && call.name !== 'openat') {
        const write = made.find((change) => change.kind === 'write')
        const half = write === undefined ? null : write.at + Math.ceil(write.bytes.length / 2)
        const { name, thread, nth } = call
        calls.push({ call: name, path: this.#pathOf(call.args), thread, nth, earlier, half })
      }
      earlier += made.filter(({ kind }) => kind !== 'sync').length
    }
    return { changes: this.#changes, calls }
  }

  /** Throws if the folder contains something else than the recorded changes give. */
  mustMatch({ names, contents }: Recording['before']): void {
    const isRecorded = (path: string, file: FileId | null) => {
      const recorded = this.#names.get(path)
      if (file === null || typeof recorded !== 'number') return recorded === file
      return this.#contents.get(recorded)!.equals(contents.get(file)!)
    }
    const found = [...names].filter(([path]) => this.#isBelow(path))
    const missing = [...this.#names.keys()].filter((path) => !names.has(path))
    const other = [...found.filter(([path, file]) => !isRecorded(path, file)).map(([path]) => path), ...missing]
    if (other.length > 0) throw new Error(`the recording is incomplete: ${other.join(', ')}`)
  }

  /** The path of a call's descriptor, or its first path. */
  #pathOf(args: string): string {
    const held = /^(\d+)<((?:[^>\\]|\\x..)*)>/.exec(args)
    return held === null ? this.#pathIn(args) : textOf(held[2]!)
  }

  #descriptorsOf(thread: string): Descriptors {
    const known = this.#processes.get(thread) ?? new Map()
    this.#processes.set(thread, known)
    return known
  }

  #take(call: Call): void {
    const { name, args, result, begun, ended } = call
    if (STARTS.test(`${name}(`)) {
      const started = result.trim()
      // Threads share descriptors; a process starts with a copy.
      const shared = args.includes('CLONE_FILES')
      if (!this.#processes.has(started)) this.#processes.set(started, shared ? this.#open : new Map(this.#open))
      return
    }
    const when = { begun, ended }
    const fd = Number(/^(\d+)/.exec(args)?.[1])
    const file = this.#open.get(fd)?.file
    const path = () => this.#pathIn(args)
    if (UNKNOWN.has(name)) {
      const fds = [...args.matchAll(/(?:^|, )(\d+)<([^>]*)>/g)].map(([, , at]) => textOf(at!))
      const paths = [...args.matchAll(/"((?:\\x..)*)"/g)].map(([, at]) => textOf(at!))
      const below = [...fds, ...paths].find((at) => this.#isBelow(at))
      if (below !== undefined) throw new Error(`a recording cannot represent ${name} of ${below}`)
      return
    }
    switch (name) {
      case 'openat':
        return this.#opened(call)
      case 'close':
        return void this.#open.delete(fd)
      case 'write':
        // Other processes have a stdout of their own.
        if (fd === 1 && this.#open === this.#first)
          return this.#print(bytesOf(/"((?:\\x..)*)"/.exec(args)![1]!).toString(), when)
        return this.#write(fd, null, args, result, when)
      case 'pwrite64':
        return this.#write(fd, Number(/, (\d+)$/.exec(args)![1]), args, result, when)
      case 'fsync':
      case 'fdatasync':
        if (file !== undefined) this.#changes.push({ kind: 'sync', file, ...when })
        return
      case 'ftruncate':
        if (typeof file === 'number') this.#truncate(file, Number(/, (\d+)$/.exec(args)![1]), when)
        return
      case 'truncate': {
        const at = this.#names.get(path())
        if (typeof at === 'number') this.#truncate(at, Number(/, (\d+)$/.exec(args)![1]), when)
        return
      }
      case 'unlink':
      case 'rmdir':
      case 'unlinkat':
        if (this.#names.delete(path())) this.#changes.push({ kind: 'remove', path: path(), ...when })
        return
      case 'mkdir':
      case 'mkdirat':
        if (!this.#isBelow(path())) return
        this.#names.set(path(), null)
        this.#changes.push({ kind: 'make-folder', path: path(), ...when })
        return
      case 'rename':
      case 'renameat':
      case 'renameat2':
        return this.#renamed(args, when)
      case 'symlink':
      case 'symlinkat': {
        // Git tries whether links work, and removes the link.
        const link = this.#pathIn(args, 1)
        if (this.#isBelow(link)) this.#create(link, when)
        return
      }
      case 'link':
      case 'linkat': {
        const [from, to] = [this.#pathIn(args, 0), this.#pathIn(args, 1)]
        const linked = this.#names.get(from)
        if (!this.#isBelow(to)) return
        if (typeof linked !== 'number') throw new Error(`a link to a file outside of the folder: ${from}`)
        this.#names.set(to, linked)
        this.#changes.push({ kind: 'link', path: to, file: linked, ...when })
        return
      }
      case 'copy_file_range':
        return this.#copied(args, Number(result), when)
    }
  }

  /** Whether a path belongs to the recording. The shared index of a WAL is memory, which no crash keeps. */
  #isBelow(path: string): boolean {
    return (path === this.#root || path.startsWith(`${this.#root}/`)) && !path.endsWith('-shm')
  }

  /** The absolute path of the n-th path in a call's arguments. */
  #pathIn(args: string, nth = 0): string {
    const found = [...args.matchAll(/(?:(AT_FDCWD|\d+)<((?:[^>\\]|\\x..)*)>, )?"((?:\\x..)*)"/g)][nth]
    if (found === undefined) throw new Error(`no path in ${args.slice(0, 200)}`)
    const name = textOf(found[3]!)
    const held = /^\/proc\/self\/fd\/(\d+)(\/.*)?$/.exec(name)
    if (held !== null) return resolve(`${this.#open.get(Number(held[1]))?.path ?? '/unknown'}${held[2] ?? ''}`)
    return resolve(found[2] === undefined ? '/' : textOf(found[2]), name)
  }

  #opened({ args, result, begun, ended }: Call): void {
    const [, number, held] = /^(\d+)<(.*)>/s.exec(result) ?? []
    if (number === undefined) return
    // The path of the descriptor has no link in it.
    const path = textOf(held!)
    const flags = args.slice(args.lastIndexOf('"'))
    if (!this.#isBelow(path)) {
      this.#open.set(Number(number), { path, file: undefined, at: 0, append: false })
      return
    }
    if (!this.#names.has(path) && flags.includes('O_CREAT')) this.#create(path, { begun, ended })
    const file = path === this.#root ? null : this.#names.get(path)
    if (typeof file === 'number' && flags.includes('O_TRUNC')) this.#truncate(file, 0, { begun, ended })
    this.#open.set(Number(number), { path, file, at: 0, append: flags.includes('O_APPEND') })
  }

  #create(path: string, when: { begun: number; ended: number }): void {
    const file = this.#files++
    this.#names.set(path, file)
    this.#sizes.set(file, 0)
    this.#contents.set(file, Buffer.alloc(0))
    this.#changes.push({ kind: 'link', path, file, ...when })
  }

  #print(text: string, when: { begun: number; ended: number }): void {
    const lines = `${this.#partial}${text}`.split('\n')
    this.#partial = lines.pop()!
    for (const line of lines) this.#changes.push({ kind: 'said', line, ...when })
  }

  #write(
    fd: number,
    offset: number | null,
    args: string,
    result: string,
    when: { begun: number; ended: number },
  ): void {
    const open = this.#open.get(fd)
    if (typeof open?.file !== 'number') return
    const bytes = bytesOf(/, "((?:\\x..)*)"/.exec(args)![1]!).subarray(0, Number(result))
    const at = offset ?? (open.append ? this.#sizes.get(open.file)! : open.at)
    if (offset === null) open.at = at + bytes.length
    this.#put(open.file, at, bytes, when)
  }

  #put(file: FileId, at: number, bytes: Buffer, when: { begun: number; ended: number }): void {
    this.#sizes.set(file, Math.max(this.#sizes.get(file)!, at + bytes.length))
    this.#contents.set(file, overwrite(this.#contents.get(file)!, at, bytes))
    this.#changes.push({ kind: 'write', file, at, bytes, ...when })
  }

  #truncate(file: FileId, size: number, when: { begun: number; ended: number }): void {
    if (this.#sizes.get(file) === size) return
    this.#sizes.set(file, size)
    this.#contents.set(file, resize(this.#contents.get(file)!, size))
    this.#changes.push({ kind: 'truncate', file, size, ...when })
  }

  #renamed(args: string, when: { begun: number; ended: number }): void {
    const [from, to] = [this.#pathIn(args, 0), this.#pathIn(args, 1)]
    if (!this.#isBelow(from) && !this.#isBelow(to)) return
    if (!this.#isBelow(from) || !this.#isBelow(to)) throw new Error(`a rename across the folder: ${from} to ${to}`)
    rename(this.#names, from, to)
    this.#changes.push({ kind: 'rename', from, to, ...when })
  }

  /** copy_file_range(in<path>, [offset] or NULL, out<path>, [offset] or NULL, count, 0) = bytes */
  #copied(args: string, bytes: number, when: { begun: number; ended: number }): void {
    const [, source, from, target, to] =
      /^(\d+)<.*?>, (?:\[(\d+)\]|NULL), (\d+)<.*?>, (?:\[(\d+)\]|NULL), /.exec(args) ?? []
    const open = this.#open.get(Number(target))
    if (typeof open?.file !== 'number') return
    const origin = this.#open.get(Number(source))!
    const content = typeof origin.file === 'number' ? this.#contents.get(origin.file)! : readFileSync(origin.path)
    const start = from === undefined ? origin.at : Number(from)
    if (from === undefined) origin.at += bytes
    const at = to === undefined ? open.at : Number(to)
    if (to === undefined) open.at += bytes
    this.#put(open.file, at, Buffer.from(content.subarray(start, start + bytes)), when)
  }
}

/** A content with other bytes at a place; zeros fill a hole. */
export function overwrite(content: Buffer, at: number, bytes: Buffer): Buffer {
  const changed = content.length < at + bytes.length ? resize(content, at + bytes.length) : content
  bytes.copy(changed, at)
  return changed
}

/** A content of this size; zeros at its end where it grows. */
export function resize(content: Buffer, size: number): Buffer {
  if (size <= content.length) return content.subarray(0, size)
  const grown = Buffer.alloc(size)
  content.copy(grown)
  return grown
}
