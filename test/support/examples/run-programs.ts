import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

// Runs programs one after the other in one process, in its working folder. Input: a file with a JSON array of paths. Output: a JSON
// line {path, out, error} per program. A program that takes longer than a minute fails.

const write = process.stdout.write.bind(process.stdout)
for (const path of JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as string[]) {
  const out: string[] = []
  process.stdout.write = (chunk: string | Uint8Array) => {
    out.push(String(chunk))
    return true
  }
  const late = new Promise<string>((resolve) => setTimeout(resolve, 60_000, 'it has not ended after a minute').unref())
  const ended = import(pathToFileURL(path).href).then(
    () => null,
    (thrown: unknown) => (thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)),
  )
  const error = await Promise.race([ended, late])
  process.stdout.write = write
  write(`${JSON.stringify({ path, out: out.join(''), error })}\n`)
}
// A program may leave handles open.
process.exit(0)
