// Lets a program believe that it runs on macOS or Windows (SIMULATED_PLATFORM): `node --import …/other-platform.mjs`. Neither has
// /proc. On Windows no folder can be opened, files have no owner, and Node has no flags for links and folders.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const name = process.env.SIMULATED_PLATFORM
Object.defineProperty(process, 'platform', { value: name })
const isWindows = name === 'win32'

const refusal = (code, path) =>
  Object.assign(new Error(`${code}: simulated, '${path}'`), { code, path, syscall: 'open' })
const text = (path) => (Buffer.isBuffer(path) ? path.toString() : String(path))
const fault = (path, opens) => {
  if (/^\/proc(\/|$)/.test(text(path))) return refusal('ENOENT', path)
  return isWindows && opens && real.statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? refusal('EPERM', path)
    : null
}

const real = { ...fs, promises: { ...fs.promises } }
for (const method of ['openSync', 'readFileSync', 'readdirSync', 'statSync', 'lstatSync', 'readlinkSync'])
  fs[method] = (path, ...more) => {
    const found = typeof path === 'number' ? null : fault(path, method === 'openSync')
    if (found !== null && !(found.code === 'ENOENT' && more.at(-1)?.throwIfNoEntry === false)) throw found
    return found === null ? real[method](path, ...more) : undefined
  }
fs.existsSync = (path) => fault(path, false) === null && real.existsSync(path)
fs.promises.open = async (path, ...more) => {
  const found = fault(path, true)
  if (found !== null) throw found
  return real.promises.open(path, ...more)
}
if (isWindows) {
  for (const method of ['getuid', 'geteuid', 'getgid', 'getegid']) delete process[method]
  // Windows has a read-only bit only.
  for (const method of ['statSync', 'lstatSync']) {
    const before = fs[method]
    fs[method] = (...all) => {
      const stat = before(...all)
      if (stat !== undefined && typeof stat.mode === 'number') stat.mode |= 0o666
      return stat
    }
  }
}
syncBuiltinESMExports()
