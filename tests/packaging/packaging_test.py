#!/usr/bin/env python3
"""Holds the examples for operators in packaging/ against the program and the document.

Usage: packaging_test.py PROGRAM WHAT, WHAT being
  docker   every library of PROGRAM belongs to a package that the Dockerfile installs; on the Debian that its last stage is made from
  systemd  systemd-analyze finds nothing wrong with the unit, and its options and variables are those of `pointmap serve`
  document docs/serving.md names both files, and options and variables of the Dockerfile are those of `pointmap serve`
Exit code 77 and the reason where this machine cannot tell.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNIT = ROOT / "packaging" / "systemd" / "pointmap.service"
DOCKERFILE = ROOT / "packaging" / "docker" / "Dockerfile"
SKIPPED = 77
# Of every Debian, also the slimmest.
ESSENTIAL = {"libc6", "libgcc-s1", "libstdc++6"}


class Skipped(Exception):
    pass


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def joined_lines(text):
    return re.sub(r"\\\n\s*", " ", text)


def run_time_stage():
    """(release of Debian, its packages)"""
    stage = joined_lines(DOCKERFILE.read_text()).rsplit("\nFROM ", 1)[1]
    packages = re.search(r"apt-get install -y --no-install-recommends ([^&]*)&&", stage).group(1).split()
    return re.match(r"debian:(\d+)-slim", stage).group(1), set(packages)


def release_here():
    fields = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return fields["ID"].strip('"'), fields.get("VERSION_ID", "").strip('"')


def needed_libraries(program):
    """Those that the program itself names; what these need is their packages' business."""
    return re.findall(r"NEEDED\s+(\S+)", output_of("objdump", "-p", program))


def package_of(path):
    """The package that owns a library. Files that dpkg knows under /lib lie under /usr/lib as well."""
    for candidate in (path, path.removeprefix("/usr"), str(pathlib.Path(path).resolve()), str(pathlib.Path(path).resolve()).removeprefix("/usr")):
        found = subprocess.run(["dpkg", "-S", candidate], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    return f"none ({path})"


def check_docker(program):
    release, packages = run_time_stage()
    here = release_here()
    if here != ("debian", release):
        raise Skipped(f"the Dockerfile is for Debian {release}, this is {' '.join(here)}")
    if not shutil.which("objdump"):
        raise Skipped("objdump is not installed")
    places = dict(re.findall(r"^\s*(\S+) => (\S+) ", output_of("ldd", program), re.M))
    needed = {package_of(places[library]) for library in needed_libraries(program) if library in places}
    assert len(needed) > 10, needed
    faults = [f"Dockerfile: {package} is not installed, but the program needs it" for package in sorted(needed - packages - ESSENTIAL)]
    return faults + [f"Dockerfile: {package} is installed, but nothing needs it" for package in sorted(packages - needed - {"ca-certificates", "curl"})]


def help_of(program):
    return output_of(program, "serve", "--help")


def unknown_words(text, program):
    """Options and variables in `text` that `pointmap serve` does not have."""
    known = help_of(program)
    words = set(re.findall(r"(?<![\w-])--[a-z-]+|\bPOINTMAP_[A-Z_]+", text))
    return sorted(word for word in words if not re.search(rf"{re.escape(word)}\b", known))


def check_systemd(program):
    unit = UNIT.read_text()
    options = "\n".join(re.findall(r"^(?:ExecStart|Environment)=.*", unit, re.M))
    faults = [f"{UNIT.name}: {word} is unknown to pointmap serve" for word in unknown_words(options, program)]
    if not shutil.which("systemd-analyze"):
        if faults:
            return faults
        raise Skipped("systemd-analyze is not installed")
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / UNIT.name
        assert "/usr/local/bin/pointmap" in unit
        copy.write_text(unit.replace("/usr/local/bin/pointmap", str(pathlib.Path(program).resolve())))
        verified = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
    ours = [line for line in verified.stderr.splitlines() if UNIT.name in line]  # units of this machine are not our business
    if verified.returncode != 0 or ours:
        faults.append(f"systemd-analyze verify: exit code {verified.returncode}: {' '.join(ours) or verified.stderr.strip()}")
    return faults


def check_document(program):
    document = (ROOT / "docs" / "serving.md").read_text()
    faults = [f"docs/serving.md does not name {path.relative_to(ROOT)}" for path in (UNIT, DOCKERFILE) if str(path.relative_to(ROOT)) not in document]
    dockerfile = "\n".join(line for line in joined_lines(DOCKERFILE.read_text()).splitlines() if line.startswith(("ENV", "ENTRYPOINT", "CMD")))
    return faults + [f"Dockerfile: {word} is unknown to pointmap serve" for word in unknown_words(dockerfile, program)]


def main():
    checks = {"docker": check_docker, "systemd": check_systemd, "document": check_document}
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("what", choices=checks)
    arguments = parser.parse_args()
    try:
        faults = checks[arguments.what](arguments.program)
    except Skipped as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    for fault in faults:
        print(fault)
    print(f"packaging_test {arguments.what}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
