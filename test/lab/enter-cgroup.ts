import { writeFileSync } from 'node:fs'
import { execve } from 'node:process'

/** `enter-cgroup.ts FILE… -- PROGRAM ARG…`: moves this process into cgroups and becomes the program. */
const words = process.argv.slice(2)
const end = words.indexOf('--')
for (const file of words.slice(0, end)) writeFileSync(file, '0')
const [program = '', ...args] = words.slice(end + 1)
execve?.(program, [program, ...args], { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' })
