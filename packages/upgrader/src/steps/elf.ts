import { open } from 'node:fs/promises'
import { StepError } from '../errors.ts'

/** e_machine of the ELF header. @see elf(5) */
const MACHINES: Readonly<Record<string, number>> = { x64: 62, arm64: 183, arm: 40, ia32: 3 }
const MACHINE_OFFSET = 18

/** Refuses an ELF program of another machine; scripts and the like pass. @throws StepError WrongPlatform */
export async function checkElf(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(20), 0, 20, 0)
    const isElf = bytesRead === 20 && buffer.subarray(0, 4).equals(Buffer.from([0x7f, 0x45, 0x4c, 0x46]))
    const machine = buffer.readUInt16LE(MACHINE_OFFSET)
    if (!isElf || machine === MACHINES[process.arch]) return
    throw new StepError(
      'WrongPlatform',
      `the program is built for ELF machine ${machine}, this host is ${process.arch}`,
    )
  } finally {
    await file.close()
  }
}
