"""Orders reach a crawl as files in its folder, whole and in order."""

import json
import os
import threading

from honeyguide.engine.orders import Budget, Judge, Stop
from honeyguide.storage.orders import FOLDER, OrderWatch, remove_order, send_order, waiting_orders


def test_orders_wait_in_the_order_in_which_they_were_sent(tmp_path):
    for number in range(5):
        send_order(tmp_path, Judge(str(number)))
    assert [order.what["judge"] for order in waiting_orders(tmp_path)] == list("01234")


def test_an_order_that_was_carried_out_is_gone(tmp_path):
    send_order(tmp_path, Judge("x"))
    send_order(tmp_path, Stop())
    first, second = waiting_orders(tmp_path)
    remove_order(tmp_path, first)
    remove_order(tmp_path, first)  # again: someone else may have removed it
    assert list(waiting_orders(tmp_path)) == [second]


def test_a_folder_without_orders_has_none(tmp_path):
    assert list(waiting_orders(tmp_path)) == []


def test_damaged_orders_and_half_written_ones_are_left_alone(tmp_path):
    orders = tmp_path / FOLDER
    orders.mkdir()
    (orders / "1.json").write_text('{"order": "jud')
    (orders / "2.json").write_text('["judge"]')
    (orders / "3.json").write_text('{"order": 7}')
    (orders / "4.json.unfinished").write_text('{"order": "judge"}')
    (orders / "5.json").mkdir()
    os.mkfifo(orders / "6.json")  # reading it would wait for ever
    (tmp_path / "elsewhere").write_text('{"order": "judge"}')
    (orders / "7.json").symlink_to(tmp_path / "elsewhere")
    send_order(tmp_path, Judge("x"))
    assert len(list(waiting_orders(tmp_path))) == 1


def test_only_the_owner_can_write_orders(tmp_path):
    send_order(tmp_path, Judge("x"))
    assert (tmp_path / FOLDER).stat().st_mode & 0o077 == 0


def test_a_watch_passes_each_order_on_once(tmp_path):
    seen, three = [], threading.Event()

    def obey(order):
        seen.append(order.what["pages"])
        if len(seen) == 3:
            three.set()

    send_order(tmp_path, Budget(1))
    watch = OrderWatch(tmp_path, obey)
    for number in (1, 2):
        send_order(tmp_path, Budget(1 + number))
    assert three.wait(30)
    watch.close()
    assert seen == [1, 2, 3]


def test_an_order_is_a_json_object_that_other_programs_can_write(tmp_path):
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "00.json").write_text(json.dumps({"order": "judge", "judge": "x"}))
    [order] = waiting_orders(tmp_path)
    assert order.what == {"order": "judge", "judge": "x"}
